/** The log, on standard output. It never holds up the server: lines that cannot be written wait, and are dropped when too many wait. */
import { write, writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, pino } from 'pino';

/** How much may wait, in bytes. */
const MOST_WAITING = 4 * 1024 * 1024;
/** How many characters make a part, which is copied at once: few enough to be in the processor's cache still. */
const PART = 4000;
/** How many bytes make a piece, which is written at once: as many as fit into a pipe of Linux. */
const PIECE = 64 * 1024;
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
  /** Whole lines, less than a part. A string that grows takes less time than an array or a buffer of lines. */
  let latest = '';
  /** Parts of whole lines before them. */
  const parts: Buffer[] = [];
  /** What is left of a piece that was written in part, or not at all. */
  let left: Buffer = Buffer.alloc(0);
  /** The bytes of all parts. */
  let length = 0;
  let lost = 0;
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
      else if (left.length > 0 || length >= PIECE) writePiece();
      else if (length + latest.length > 0) writeIn(GATHERING);
      retry = error ? Math.min(2 * retry, RETRY.last) : RETRY.first;
    });
  }

  /** As many parts as fit, and at least one. */
  function takePiece(): Buffer {
    endPart();
    const taken: Buffer[] = [];
    let bytes = 0;
    for (const part of parts) {
      bytes += part.length;
      if (bytes > PIECE && taken.length > 0) break;
      taken.push(part);
    }
    parts.splice(0, taken.length);
    const piece = Buffer.concat(taken);
    length -= piece.length;
    if (lost > 0) onLost(lost);
    lost = 0;
    return piece;
  }

  function endPart(): void {
    const part = Buffer.from(latest);
    parts.push(part);
    length += part.length;
    latest = '';
  }

  return {
    write(text: string): void {
      if (length + latest.length + text.length > MOST_WAITING) {
        lost += text.split('\n').length - 1;
        return;
      }
      latest += text;
      if (latest.length > PART) endPart();
      if (!isDue) writeIn(GATHERING);
    },
    async end(): Promise<void> {
      const deadline = Date.now() + LAST_LINES;
      while (isWriting || (isDue && Date.now() < deadline)) await wait(GATHERING);
    },
    /** At the very end, when nothing can be waited for. */
    writeRest(): void {
      try {
        writeSync(fd, Buffer.concat([left, ...parts, Buffer.from(latest)]));
      } catch {
        // There is nobody left to tell.
      }
    },
  };
}
