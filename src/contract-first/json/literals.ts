/**
 * Writes texts as literals of other languages, or for a terminal. The texts may be hostile, because a third party may
 * have written them.
 */

/**
 * Writes a string literal of JavaScript and TypeScript. Escapes U+2028 and U+2029: inside a comment, they would end its
 * line, so that the rest of the text would run as code.
 */
export const toScriptLiteral = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replace(/['\u2028\u2029]/g, toEscape)}'`;

const toEscape = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Writes a string literal of SQL, for SQLite and PostgreSQL. */
export const toSqlLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Quotes a text as one word of a POSIX shell. */
export const toShellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Replaces unprintable characters, also line breaks, by their codes, so that the text is one line of a terminal. */
export const toPrintable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);

/** Replaces the unprintable characters of each line, and keeps the line breaks. */
export const toPrintableLines = (text: string): string => text.split('\n').map(toPrintable).join('\n');
