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
  const lines = new Lines(fd, (count) => logger.error({ count }, 'lines of the log were lost'));
  const logger = pino({ level, redact: ['req.headers.authorization', 'headers.authorization'] }, lines);
  process.once('exit', () => lines.writeRest());
  return { logger, write: (text) => lines.write(text), end: () => lines.end() };
}

class Lines {
  readonly #fd: number;
  readonly #onLost: (count: number) => void;
  /** Whole lines, less than a part. A string that grows takes less time than an array or a buffer of lines. */
  #latest = '';
  /** Parts of whole lines before them, and the bytes of all. */
  readonly #parts: Buffer[] = [];
  #length = 0;
  /** The rest of a piece that was written in part, or not at all. */
  #left: Buffer = Buffer.alloc(0);
  #lost = 0;
  #isDue = false;
  #isWriting = false;
  #retry = RETRY.first;

  constructor(fd: number, onLost: (count: number) => void) {
    this.#fd = fd;
    this.#onLost = onLost;
  }

  write(text: string): void {
    if (this.#length + this.#latest.length + text.length > MOST_WAITING) {
      this.#lost += text.split('\n').length - 1;
      return;
    }
    this.#latest += text;
    if (this.#latest.length > PART) this.#endPart();
    if (!this.#isDue) this.#writeIn(GATHERING);
  }

  async end(): Promise<void> {
    const deadline = Date.now() + LAST_LINES;
    while (this.#isWriting || (this.#isDue && Date.now() < deadline)) await wait(GATHERING);
  }

  /** At the very end, when nothing can be waited for. */
  writeRest(): void {
    try {
      writeSync(this.#fd, Buffer.concat([this.#left, ...this.#parts, Buffer.from(this.#latest)]));
    } catch {
      // There is nobody left to tell.
    }
  }

  #writeIn(milliseconds: number): void {
    this.#isDue = true;
    setTimeout(() => this.#writePiece(), milliseconds).unref();
  }

  #writePiece(): void {
    this.#isDue = true;
    this.#isWriting = true;
    const piece = this.#left.length > 0 ? this.#left : this.#takePiece();
    this.#left = Buffer.alloc(0);
    write(this.#fd, piece, (error, count) => {
      this.#isDue = false;
      this.#isWriting = false;
      this.#left = piece.subarray(error ? 0 : count);
      if (error) this.#writeIn(this.#retry);
      else if (this.#left.length > 0 || this.#length >= PIECE) this.#writePiece();
      else if (this.#length + this.#latest.length > 0) this.#writeIn(GATHERING);
      this.#retry = error ? Math.min(2 * this.#retry, RETRY.last) : RETRY.first;
    });
  }

  /** As many parts as fit, and at least one. */
  #takePiece(): Buffer {
    this.#endPart();
    const taken: Buffer[] = [];
    let bytes = 0;
    for (const part of this.#parts) {
      bytes += part.length;
      if (bytes > PIECE && taken.length > 0) break;
      taken.push(part);
    }
    this.#parts.splice(0, taken.length);
    const piece = Buffer.concat(taken);
    this.#length -= piece.length;
    if (this.#lost > 0) this.#onLost(this.#lost);
    this.#lost = 0;
    return piece;
  }

  #endPart(): void {
    const part = Buffer.from(this.#latest);
    this.#parts.push(part);
    this.#length += part.length;
    this.#latest = '';
  }
}
