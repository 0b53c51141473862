/** Writes the parts of a store as the lines of an export. */
import type { JsonText } from '../../json/json-text.ts';
import type { Fields } from '../../store/collection.ts';
import type { AnyDomain } from '../../store/description.ts';
import type { Part } from '../../store/store.ts';
import { type Counts, VERSION } from './line.ts';

/** The beginning of every export. */
export const EXPORT_START = '{"export":';

/** Returns several lines at a time. `counts` has the keys and records read so far. */
export async function* toLines(
  parts: AsyncIterable<Part<JsonText<Fields>>>,
  counts: Counts,
  domain: AnyDomain,
): AsyncGenerator<string> {
  for await (const { lastIds, keys = [], collection = '', records = [] } of parts) {
    if (lastIds) yield toStart(lastIds);
    yield keys.map((key) => `${JSON.stringify({ key })}\n`).join('');
    yield records.map(({ text }) => `{"${domain[collection]?.noun}":${text}}\n`).join('');
  }
  const ends = Object.keys(domain).map((name) => [name, counts.records[name] ?? 0]);
  yield `${JSON.stringify({ end: { keys: counts.keys, ...Object.fromEntries(ends) } })}\n`;
}

function toStart(lastIds: Readonly<Record<string, bigint>>): string {
  const members = Object.entries(lastIds).map(([name, id]) => `"${name}":${id}`);
  return `${EXPORT_START}{"version":${VERSION},"lastId":{${members}}}}\n`;
}
