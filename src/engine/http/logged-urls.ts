/** URLs as they may be logged: without keys. */

/** The URL for the log. */
export type ToLogged = (url: string) => string;

/** The start of every key that we make (`store/api-keys.ts`). */
const OURS = 'petstore_';

/** No key is shorter than this, in characters (`config.ts`), so no URL that has one is. */
const SHORTEST = 16;

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

  return (url) => {
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
}

/** In lower case, and ASCII, of which names and keys are. Also what is encoded twice; never fails. */
function decode(text: string): string {
  const next = text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  return next === text ? text.toLowerCase() : decode(next);
}

const toPattern = (text: string) => text.replace(/[^\w]/g, '\\$&');
