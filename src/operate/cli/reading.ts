/** The bytes of an export -> parts for a store. */
import type { AnyDomain } from '../../store/description.ts';
import type { Part } from '../../store/store.ts';
import { type Line, MAX_LINE, type ReadLine, type StoredRecord } from './line.ts';

const NEWLINE = 10;
/** The highest 64-bit integer. */
const LAST = 2n ** 63n - 1n;

/** @throws Error that names the first line with a fault, or says that the last lines are missing */
export async function* toParts(
  bytes: AsyncIterable<Buffer>,
  readLine: ReadLine,
  domain: AnyDomain,
): AsyncGenerator<Part<StoredRecord>> {
  const check = buildCheckOrder(domain);
  let number = 0;
  let isComplete = false;
  for await (const lines of splitLines(bytes)) {
    const part: Part<StoredRecord> = { lastId: 0n, keys: [], records: [] };
    for (const bytes of lines) {
      number++;
      try {
        const line = readLine(bytes);
        check(line);
        if (line.record) part.records.push(line.record);
        if (line.key) part.keys.push(line.key);
        if (line.export) part.lastId = line.export.lastId;
        isComplete = line.end !== undefined;
      } catch (error) {
        throw new Error(`Line ${number}: ${(error as Error).message}.`);
      }
    }
    yield part;
  }
  if (!isComplete) throw new Error(`The export is cut off after line ${number}: its last line, "end", is missing.`);
}

/** What a line may not be after those before it. */
function buildCheckOrder({ name, noun }: AnyDomain): (line: Line) => void {
  const seen = new Set<string>();
  const counts = { keys: 0, records: 0 };
  let isBegun = false;
  let isEnded = false;
  let lastId = 0n;

  const see = (name: string, value: string) => {
    if (seen.has(`${name} ${value}`)) throw new Error(`${name} is that of an earlier key`);
    seen.add(`${name} ${value}`);
  };

  return ({ export: head, key, record, end }) => {
    if (isEnded) throw new Error('it comes after the end');
    if (isBegun === Boolean(head)) throw new Error(head ? 'another export begins' : 'no export begins here');
    isBegun = true;
    if (head?.lastId === LAST) throw new Error(`export.lastId must be lower than ${LAST}: no id would be left`);
    if (record) {
      if (record.id <= lastId) throw new Error(`${noun}.id must be higher than ${lastId}, which came before`);
      if (record.id === LAST) throw new Error(`${noun}.id must be lower than ${LAST}: no id would be left`);
      lastId = record.id;
      counts.records++;
    } else if (key) {
      see('key.id', key.id);
      see('key.hash', key.hash);
      counts.keys++;
    } else if (end) {
      isEnded = true;
      if (end.records !== counts.records || end.keys !== counts.keys)
        throw new Error(
          `end counts ${end.records} ${name} and ${end.keys} keys, and there are ${counts.records} and ${counts.keys}`,
        );
    }
  };
}

/** Many lines at a time, without their ends. Of one that is too long, the beginning may come as a line. */
async function* splitLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer[]> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of bytes) {
    pieces.push(piece);
    size += piece.length;
    if (size < MAX_LINE) continue;
    const [lines, rest] = split(Buffer.concat(pieces));
    yield lines.length > 0 ? lines : [rest];
    pieces = [rest];
    size = rest.length;
  }
  const [lines, rest] = split(Buffer.concat(pieces));
  yield rest.length > 0 ? [...lines, rest] : lines;
}

function split(bytes: Buffer): [lines: Buffer[], rest: Buffer] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return [lines, bytes.subarray(start)];
}
