/** The log, on standard output. It never holds up the server: lines that cannot be written wait, and are dropped when too many wait. */
import { write, writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, pino } from 'pino';

/** How much may wait, in characters. */
const MOST_WAITING = 4 * 1024 * 1024;
/** What is written at once, in characters: as much as a pipe takes on Linux. */
const PIECE = 65_536;
/** How long lines are collected before they are written together, in milliseconds. */
const GATHERING = 20;
/** After how long a failed write is tried again, in milliseconds; the time doubles with each failure. */
const RETRY = { first: 1, last: 100 };
/** For how long the end of the process waits for its last lines, in milliseconds. */
const LAST_LINES = 1000;

export interface Log {
  logger: Logger;
  /** Takes whole lines of another process. */
  write(lines: string): void;
  /** Resolves when every line is written, or cannot be. Not while a write hangs: the process could only be killed. */
  end(): Promise<void>;
}

export function openLog(level: string): Log {
  // Reading `process.stdout` makes a pipe non-blocking: when nobody reads it, a write fails, and does not hang.
  const { fd } = process.stdout;
  const lines = buildLines(fd, (count) => logger.error({ count }, 'lines of the log were lost'));
  const logger = pino({ level, redact: ['req.headers.authorization', 'headers.authorization'] }, lines);
  process.once('exit', lines.writeRest);
  return { logger, write: lines.write, end: lines.end };
}

function buildLines(fd: number, onLost: (count: number) => void) {
  /** Whole lines, in pieces to be written. */
  const waiting: string[] = [];
  let length = 0;
  let lost = 0;
  /** What is left of a piece that was written in part, or not at all. */
  let left: Buffer = Buffer.alloc(0);
  let isDue = false;
  let isWriting = false;
  let retry = RETRY.first;

  function writeIn(milliseconds: number): void {
    isDue = true;
    setTimeout(writePiece, milliseconds).unref();
  }

  function writePiece(): void {
    isDue = true;
    isWriting = true;
    const piece = left.length > 0 ? left : takePiece();
    left = Buffer.alloc(0);
    write(fd, piece, (error, count) => {
      isDue = false;
      isWriting = false;
      left = piece.subarray(error ? 0 : count);
      if (error) writeIn(retry);
      else if (left.length > 0 || waiting.length > 1) writePiece();
      else if (waiting.length > 0) writeIn(GATHERING);
      retry = error ? Math.min(2 * retry, RETRY.last) : RETRY.first;
    });
  }

  function takePiece(): Buffer {
    const text = waiting.shift() as string;
    length -= text.length;
    if (lost > 0) onLost(lost);
    lost = 0;
    return Buffer.from(text);
  }

  return {
    write(text: string): void {
      if (length + text.length > MOST_WAITING) {
        lost += text.split('\n').length - 1;
        return;
      }
      length += text.length;
      const last = waiting.length - 1;
      if (last >= 0 && (waiting[last] as string).length + text.length <= PIECE) waiting[last] += text;
      else waiting.push(text);
      if (!isDue) writeIn(GATHERING);
    },
    async end(): Promise<void> {
      const deadline = Date.now() + LAST_LINES;
      while (isWriting || (isDue && Date.now() < deadline)) await wait(GATHERING);
    },
    /** At the very end, when nothing can be waited for. */
    writeRest(): void {
      try {
        writeSync(fd, Buffer.concat([left, Buffer.from(waiting.join(''))]));
      } catch {
        // There is nobody left to tell.
      }
    },
  };
}
