/** URLs as they may be logged and traced: without keys, and not for ever. */

/** The URL for the log. */
export type ToLogged = (url: string) => string;

/** The start of every key that we make (`store/api-keys.ts`). */
const OURS = 'petstore_';

/** No key is shorter than this, in characters (`config.ts`), so no URL that has one is. */
const SHORTEST = 16;

/** No more of a URL is logged, in characters. */
const LONGEST = 1024;

/** Anything between two delimiters (RFC 3986, section 2.2). */
const PART = /[^/?&;#]+/g;

/**
 * Leaves each part out that has a key: one of ours, one of these, or the value of a parameter that holds keys, a misspelt one too.
 * `names` are those of these parameters.
 */
export function buildToLogged(names: string[], keys: readonly string[]): ToLogged {
  const secrets = [OURS, ...keys].map((text) => text.toLowerCase());
  const parameters = names.map((name) => name.toLowerCase());
  /** Whether it is worth a closer look. */
  const suspicious = new RegExp([...secrets, ...parameters].map(toPattern).join('|').concat('|%'), 'i');
  const hasSecret = (text: string) => secrets.some((secret) => text.includes(secret));

  const hide = (url: string) => {
    if (url.length < SHORTEST || !suspicious.test(url)) return url;
    const endOfPath = url.search(/[?&;#]/) >>> 0;
    const logged = url.replace(PART, (part, index: number) => {
      const text = decode(part);
      const isHidden = parameters.some((name) => text.includes(index < endOfPath ? `${name}=` : name));
      return isHidden || hasSecret(text) ? '***' : part;
    });
    // A key may have delimiters in it.
    return hasSecret(decode(logged)) ? '***' : logged;
  };
  return (url) => {
    const logged = hide(url);
    return logged.length > LONGEST ? `${logged.slice(0, LONGEST)}…` : logged;
  };
}

/** In lower case, and ASCII, of which names and keys are. Also what is encoded many times, in one pass; never fails. */
function decode(text: string): string {
  if (!text.includes('%')) return text.toLowerCase();
  const decoded: string[] = [];
  for (const character of text) {
    decoded.push(character);
    // A character that was decoded may be the end of another code.
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
