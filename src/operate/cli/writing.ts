/** Parts of a store -> the lines of an export. */
import type { JsonText } from '../../json/json-text.ts';
import type { Fields } from '../../store/collection.ts';
import type { AnyDomain } from '../../store/description.ts';
import type { Part } from '../../store/store.ts';
import { type Counts, VERSION } from './line.ts';

/** What every export begins with. */
export const EXPORT_START = '{"export":';

/** Several lines at a time, each with its end. `counts` are those of the parts that were read. */
export async function* toLines(
  parts: AsyncIterable<Part<JsonText<Fields>>>,
  counts: Counts,
  { name, noun }: AnyDomain,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const { lastId, keys, records } of parts) {
    if (isFirst) yield `${EXPORT_START}{"version":${VERSION},"lastId":${lastId}}}\n`;
    isFirst = false;
    yield keys.map((key) => `${JSON.stringify({ key })}\n`).join('');
    yield records.map(({ text }) => `{"${noun}":${text}}\n`).join('');
  }
  yield `${JSON.stringify({ end: { keys: counts.keys, [name]: counts.records } })}\n`;
}
