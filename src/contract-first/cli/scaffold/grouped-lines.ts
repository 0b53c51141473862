/** Writes the lines about assumptions and missing parts. A line that is true for several names is written once. */

/** Words about a collection or an operation, for one line of the output. */
export interface Remark {
  /** The name of the collection, or the operationId. */
  name: string;
  words: string;
}

/** The maximum number of names in a line. Of more names, a line contains two and the number of the others. */
const MOST_NAMES = 3;

/** Writes one line for all remarks with the same words. `toLine` writes the line of a single remark. */
export function toGroupedLines(
  remarks: Remark[],
  { start, toLine }: { start: string; toLine: (remark: Remark) => string },
): string[] {
  const groups = new Map<string, Set<string>>();
  for (const { name, words } of remarks) groups.set(words, (groups.get(words) ?? new Set()).add(name));
  return [...groups].map(([words, names]) => {
    const [name = '', ...others] = names;
    return start + (others.length === 0 ? toLine({ name, words }) : `${words} (${toList([...names])})`);
  });
}

function toList(names: string[]): string {
  const shown = names.slice(0, names.length > MOST_NAMES ? 2 : -1);
  const last = names.length > MOST_NAMES ? `${names.length - shown.length} more` : names.at(-1);
  return `${shown.join(', ')} and ${last}`;
}
