/** Prepares URLs for logs and traces: hides keys, and shortens long URLs. */

/** Returns the URL for the log. */
export type ToLogged = (url: string) => string;

/** The length of the shortest key (`config.ts`), in characters. A shorter URL cannot contain a key. */
const SHORTEST = 16;

/** How many characters of a URL are logged. */
const MAX_URL_LENGTH = 1024;

/** Matches the text between two delimiters of a URL (RFC 3986, section 2.2). */
const URL_TOKENS = /[^/?&;#]+/g;

/**
 * Builds the function that hides keys in URLs. A text between two delimiters is replaced by `***` if it contains one of
 * `keys`, such as the common prefix of all stored keys. A query parameter is also replaced if its name contains one of
 * `names`, the names of the parameters for keys. The name need not be equal, because clients may misspell it.
 */
export function buildToLogged(names: string[], keys: readonly string[]): ToLogged {
  const secrets = keys.map((text) => text.toLowerCase());
  const parameters = names.map((name) => name.toLowerCase());
  /** A quick test, because most URLs contain nothing to hide. */
  const suspicious = new RegExp([...secrets, ...parameters].map(toPattern).join('|').concat('|%'), 'i');
  const hasSecret = (text: string) => secrets.some((secret) => text.includes(secret));

  const hide = (url: string) => {
    const endOfPath = url.search(/[?&;#]/) >>> 0;
    const logged = url.replace(URL_TOKENS, (part, index: number) => {
      const text = decode(part);
      const isHidden = parameters.some((name) => text.includes(index < endOfPath ? `${name}=` : name));
      return isHidden || hasSecret(text) ? '***' : part;
    });
    // If a secret is still found, a key contains delimiters and extends over several of the texts between them. Then
    // the whole URL is hidden.
    return hasSecret(decode(logged)) ? '***' : logged;
  };
  return (url) => {
    const logged = url.length < SHORTEST || !suspicious.test(url) ? url : hide(url);
    return logged.length > MAX_URL_LENGTH ? `${logged.slice(0, MAX_URL_LENGTH)}…` : logged;
  };
}

/**
 * Decodes percent-encoded ASCII characters, even if they are encoded several times, and converts the text to lower
 * case. Takes a single pass, and never throws.
 */
function decode(text: string): string {
  if (!text.includes('%')) return text.toLowerCase();
  const decoded: string[] = [];
  for (const character of text) {
    decoded.push(character);
    // A decoded character may complete another percent-encoded character: `%2541` becomes `%41`, which becomes `A`.
    for (let code = codeAtEnd(decoded); code !== undefined; code = codeAtEnd(decoded)) {
      decoded.splice(-3, 3, String.fromCharCode(code));
    }
  }
  return decoded.join('').toLowerCase();
}

function codeAtEnd(characters: string[]): number | undefined {
  if (characters.at(-3) !== '%') return undefined;
  const digits = characters.slice(-2).join('');
  return /^[0-9a-f]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

const toPattern = (text: string) => text.replace(/[^\w]/g, '\\$&');
