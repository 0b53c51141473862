/** Keeps lines and columns. */
export function toJavaScript(source: string): Promise<string>;
