/** Reads the bytes of an export into parts for a store. */
import type { Fields } from '../../store/collection.ts';
import type { AnyDescription, AnyDomain } from '../../store/description.ts';
import type { Part, StoredKey } from '../../store/store.ts';
import { type Counts, type Line, MAX_LINE, type ReadLine } from './line.ts';

const NEWLINE = 10;
/** The highest 64-bit integer. */
const LAST = 2n ** 63n - 1n;

type ReadPart = Part<Fields> & { keys: StoredKey[]; records: Fields[] };

/** @throws Error that names the first faulty line, or says that the last lines are missing */
export async function* toParts(
  bytes: AsyncIterable<Buffer>,
  readLine: ReadLine,
  domain: AnyDomain,
): AsyncGenerator<Part<Fields>> {
  const check = buildCheckOrder(domain);
  let number = 0;
  let isComplete = false;
  for await (const lines of splitLines(bytes)) {
    let part: ReadPart = { keys: [], records: [] };
    for (const bytes of lines) {
      number++;
      try {
        const line = readLine(bytes);
        check(line);
        if (line.export) part.lastIds = line.export.lastId;
        if (line.key) part.keys.push(line.key);
        if (line.record) {
          // A part has records of only one collection.
          if (part.records.length > 0 && part.collection !== line.collection) {
            yield part;
            part = { keys: [], records: [] };
          }
          part.collection = line.collection as string;
          part.records.push(line.record);
        }
        isComplete = line.end !== undefined;
      } catch (error) {
        throw new Error(`Line ${number}: ${(error as Error).message}.`);
      }
    }
    yield part;
  }
  if (!isComplete) throw new Error(`The export is cut off after line ${number}: its last line, "end", is missing.`);
}

/** Builds a check that refuses lines in the wrong order. */
function buildCheckOrder(domain: AnyDomain): (line: Line) => void {
  const seen = new Set<string>();
  const counts: Counts = { keys: 0, records: {} };
  const checkIds = new Map(Object.entries(domain).map(([name, description]) => [name, buildCheckId(description)]));
  let isBegun = false;
  let isEnded = false;

  const see = (name: string, value: string) => {
    if (seen.has(`${name} ${value}`)) throw new Error(`${name} is that of an earlier key`);
    seen.add(`${name} ${value}`);
  };

  return ({ export: head, key, collection = '', record, end }) => {
    if (isEnded) throw new Error('it comes after the end');
    if (isBegun === Boolean(head)) throw new Error(head ? 'another export begins' : 'no export begins here');
    isBegun = true;
    for (const [name, id] of Object.entries(head?.lastId ?? {}))
      if (id === LAST) throw new Error(`export.lastId.${name} must be lower than ${LAST}: no id would be left`);
    if (record) {
      checkIds.get(collection)?.(record);
      counts.records[collection] = (counts.records[collection] ?? 0) + 1;
    } else if (key) {
      see('key.id', key.id);
      see('key.hash', key.hash);
      counts.keys++;
    } else if (end) {
      isEnded = true;
      checkEnd(end, counts);
    }
  };
}

function checkEnd(end: Counts, { keys, records }: Counts): void {
  const names = Object.keys(end.records);
  if (end.keys === keys && names.every((name) => end.records[name] === (records[name] ?? 0))) return;
  const told = names.map((name) => `${end.records[name]} ${name}`);
  const found = names.map((name) => records[name] ?? 0);
  throw new Error(`end counts ${told.join(', ')} and ${end.keys} keys, and there are ${found.join(', ')} and ${keys}`);
}

/** Ids that the store sets must ascend. */
function buildCheckId({ noun, columns }: AnyDescription): (record: Fields) => void {
  const [name, column] = Object.entries(columns).find(([, { set }]) => set === 'id') ?? [];
  let lastId = 0n;
  return (record) => {
    if (column?.type !== 'int64') return;
    const id = record[name as string] as bigint;
    if (id <= lastId) throw new Error(`${noun}.${name} must be higher than ${lastId}, which came before`);
    if (id === LAST) throw new Error(`${noun}.${name} must be lower than ${LAST}: no id would be left`);
    lastId = id;
  };
}

/** Splits into lines, many at a time. The beginning of a line that is too long counts as a line, which is refused later. */
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
