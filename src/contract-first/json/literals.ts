/** Writes texts as literals of other languages, or for a terminal. A third party may have written the texts. */

/** A string literal of JavaScript and TypeScript. U+2028 would end the line of a comment, so it is escaped. */
export const toScriptLiteral = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replace(/['\u2028\u2029]/g, toEscape)}'`;

const toEscape = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A string literal of SQL, in both databases. */
export const toSqlLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Quotes a text as one word of a POSIX shell. */
export const toShellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Makes a text one line of a terminal: unprintable characters become their codes. */
export const toPrintable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);

/** Does the same with each line of a text. */
export const toPrintableLines = (text: string): string => text.split('\n').map(toPrintable).join('\n');
