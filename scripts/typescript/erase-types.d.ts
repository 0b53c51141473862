/** The same text with blanks where types stand. */
export function toJavaScript(source: string): Promise<string>;
