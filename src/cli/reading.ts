/** The bytes of an export -> parts for a store. */
import type { Part, Pet } from '../store/store.ts';
import { type Line, MAX_LINE, type ReadLine } from './line.ts';

const NEWLINE = 10;

/** @throws Error that names the first line with a fault, or says that the last lines are missing */
export async function* toParts(bytes: AsyncIterable<Buffer>, readLine: ReadLine): AsyncGenerator<Part<Pet>> {
  const check = buildCheckOrder();
  let number = 0;
  let isComplete = false;
  for await (const lines of splitLines(bytes)) {
    const part: Part<Pet> = { lastId: 0n, keys: [], pets: [] };
    for (const bytes of lines) {
      number++;
      try {
        const line = readLine(bytes);
        check(line);
        if (line.pet) part.pets.push(line.pet);
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
function buildCheckOrder(): (line: Line) => void {
  const seen = new Set<string>();
  const counts = { keys: 0, pets: 0 };
  let isBegun = false;
  let isEnded = false;
  let lastId = 0n;

  const see = (name: string, value: string) => {
    if (seen.has(`${name} ${value}`)) throw new Error(`${name} is that of an earlier key`);
    seen.add(`${name} ${value}`);
  };

  return ({ export: head, key, pet, end }) => {
    if (isEnded) throw new Error('it comes after the end');
    if (isBegun === Boolean(head)) throw new Error(head ? 'another export begins' : 'no export begins here');
    isBegun = true;
    if (pet) {
      if (pet.id <= lastId) throw new Error(`pet.id must be higher than ${lastId}, which came before`);
      lastId = pet.id;
      counts.pets++;
    } else if (key) {
      see('key.id', key.id);
      see('key.hash', key.hash);
      counts.keys++;
    } else if (end) {
      isEnded = true;
      if (end.pets !== counts.pets || end.keys !== counts.keys)
        throw new Error(
          `end counts ${end.pets} pets and ${end.keys} keys, and there are ${counts.pets} and ${counts.keys}`,
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
