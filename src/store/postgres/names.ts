/** Names in SQL. */

/** Any text as the name of a schema or table, exactly as it is. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
