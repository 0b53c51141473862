/** Texts as literals of other languages: a third party may have written them, and means something else there. */

/** A string literal of JavaScript and TypeScript. U+2028 ends a line of a comment: it does not stand as it is. */
export const toScriptLiteral = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replace(/['\u2028\u2029]/g, toEscape)}'`;

const toEscape = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A string literal of SQL, in both databases. */
export const toSqlLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** One word of a POSIX shell. */
export const toShellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
