/** The log, on standard output. The log never blocks the server: lines that cannot be written wait, and are dropped when too many wait. */
import { write, writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { toShortLines } from './short-lines.ts';

/** The number of bytes that may wait. */
const MOST_WAITING = 4 * 1024 * 1024;
/** The length of a part, in characters. A part is copied to a buffer at once, and is short enough to be still in the processor's cache. */
const CHUNK_LENGTH = 4000;
/** The size of a piece, in bytes. A piece is written at once, and is as large as the buffer of a pipe in Linux. */
const PIECE = 64 * 1024;
/** How long lines are collected before they are written together, in milliseconds. */
const GATHERING = 20;
/** The pause before a failed write is retried, in milliseconds; it doubles with each failure. */
const RETRY = { first: 1, last: 100 };
/** How long the end of the process waits for its last lines, in milliseconds. */
const LAST_LINES = 1000;

export interface Log {
  logger: Logger;
  /** Writes complete lines. */
  write(lines: string): void;
  /**
   * Resolves when every line is written, or when that has failed. While a write hangs, it does not resolve, and the process can only be
   * killed.
   */
  end(): Promise<void>;
  /** Like `end`, for a process that goes on. After this call, the exit of the process no longer waits for lines. */
  close(): Promise<void>;
}

/** The open logs, which share one listener. */
const open = new Set<Lines>();
const writeRests = () => {
  for (const lines of open) lines.writeRest();
};

/** `format` is `json`, `short` for people, or `auto`: short on a terminal. */
export function openLog(level: string, format = 'json'): Log {
  // Accessing `process.stdout` makes a pipe non-blocking: if nobody reads it, a write fails instead of hanging.
  const { fd, isTTY } = process.stdout;
  const isShort = format === 'auto' ? isTTY : format === 'short';
  const lines = new Lines(fd, (count) => logger.error({ count }, 'lines of the log were lost'));
  const write = isShort ? (text: string) => lines.write(toShortLines(text)) : lines.write;
  const logger = pino({ level, redact: ['req.headers.authorization', 'headers.authorization'] }, { write });
  if (open.size === 0) process.on('exit', writeRests);
  open.add(lines);
  const close = async () => {
    await lines.end();
    open.delete(lines);
    if (open.size === 0) process.off('exit', writeRests);
  };
  return { logger, write, end: () => lines.end(), close };
}

class Lines {
  readonly #fd: number;
  readonly #onLost: (count: number) => void;
  /** The latest lines, shorter than a part. A growing string is faster than an array or a buffer of lines. */
  #latest = '';
  /** The earlier parts, and their length in bytes. */
  readonly #parts: Buffer[] = [];
  #length = 0;
  /** The unwritten rest of the current piece. */
  #left: Buffer = Buffer.alloc(0);
  #lost = 0;
  #isDue = false;
  #isWriting = false;
  #retry = RETRY.first;

  constructor(fd: number, onLost: (count: number) => void) {
    this.#fd = fd;
    this.#onLost = onLost;
  }

  readonly write = (text: string): void => {
    if (this.#length + this.#latest.length + text.length > MOST_WAITING) {
      this.#lost += text.split('\n').length - 1;
      return;
    }
    this.#latest += text;
    if (this.#latest.length > CHUNK_LENGTH) this.#endPart();
    if (!this.#isDue) this.#writeIn(GATHERING);
  };

  async end(): Promise<void> {
    const deadline = Date.now() + LAST_LINES;
    while (this.#isWriting || (this.#isDue && Date.now() < deadline)) await wait(GATHERING);
  }

  /** Writes synchronously at the very end of the process, when it can no longer wait. */
  writeRest(): void {
    try {
      writeSync(this.#fd, Buffer.concat([this.#left, ...this.#parts, Buffer.from(this.#latest)]));
    } catch {
      // The error cannot be reported anywhere else.
    }
  }

  #writeIn(milliseconds: number): void {
    this.#isDue = true;
    setTimeout(this.#writePiece, milliseconds).unref();
  }

  readonly #writePiece = (): void => {
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
  };

  /** Joins as many parts as fit into a piece, and at least one. */
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
