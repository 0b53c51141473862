/** URLs as they may be logged: without the keys in their queries. */

/** The URL for the log. */
export type ToLogged = (url: string) => string;

/** `names` are those of the parameters that hold keys. What has one in it is left out, so that a misspelt one is, too. */
export function buildToLogged(names: string[]): ToLogged {
  if (names.length === 0) return (url) => url;
  const hidden = names.map((name) => name.toLowerCase());
  const toText = (part: string) => (hidden.some((name) => decoded(part).toLowerCase().includes(name)) ? '***' : part);
  return (url) => {
    const [path = '', ...parts] = url.split(/(?=[?&])/);
    return path + parts.map((part) => (part[0] as string) + toText(part.slice(1))).join('');
  };
}

/** In ASCII, of which names of keys are; never fails. */
function decoded(part: string): string {
  return part.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}
