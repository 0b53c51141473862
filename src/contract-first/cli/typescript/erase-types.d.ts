/** Puts blanks where types stand. */
export function toJavaScript(source: string): Promise<string>;
