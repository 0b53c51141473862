/** Parts of a store -> the lines of an export. */
import type { JsonText } from '../json/json-text.ts';
import type { Part, Pet } from '../store/store.ts';
import { type Counts, VERSION } from './line.ts';

/** Several lines at a time, each with its end. `counts` are those of the parts that were read. */
export async function* toLines(parts: AsyncIterable<Part<JsonText<Pet>>>, counts: Counts): AsyncGenerator<string> {
  let isFirst = true;
  for await (const { lastId, keys, pets } of parts) {
    if (isFirst) yield `{"export":{"version":${VERSION},"lastId":${lastId}}}\n`;
    isFirst = false;
    yield keys.map((key) => `${JSON.stringify({ key })}\n`).join('');
    yield pets.map(({ text }) => `{"pet":${text}}\n`).join('');
  }
  yield `${JSON.stringify({ end: counts })}\n`;
}
