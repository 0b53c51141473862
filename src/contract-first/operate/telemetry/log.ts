/**
 * The log on standard output, which never blocks the server, because lines wait in memory until they can be written. If
 * too many lines wait, further lines are dropped.
 */
import { write, writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { toShortLines } from './short-lines.ts';

/** The maximum number of bytes that may wait to be written. */
const MOST_WAITING = 4 * 1024 * 1024;
/**
 * How many characters are collected before the lines are converted to a buffer, called a part. So few characters are
 * still in the processor's cache when they are converted.
 */
const CHUNK_LENGTH = 4000;
/**
 * The maximum size of a piece, in bytes. A piece consists of the parts that are written by one call. The limit is the
 * size of a pipe's buffer in Linux.
 */
const PIECE = 64 * 1024;
/** How long lines are collected before they are written together, in milliseconds. */
const GATHERING = 20;
/**
 * The pause before a failed write is retried, in milliseconds. The pause doubles with each failure, from `first` to at
 * most `last`.
 */
const RETRY = { first: 1, last: 100 };
/** How long `end` waits for lines that cannot be written, in milliseconds. */
const LAST_LINES = 1000;

export interface Log {
  logger: Logger;
  /** Writes a text of one or more complete lines. */
  write(lines: string): void;
  /**
   * Resolves when all lines are written, or after one second if they cannot be written. If a write hangs, the promise
   * does not resolve, and only a signal such as SIGKILL ends the process.
   */
  end(): Promise<void>;
  /**
   * Waits like `end`, but for a process that does not end afterwards. Lines that are logged later are not written when
   * the process ends.
   */
  close(): Promise<void>;
}

/** The open logs. A single listener writes their remaining lines at the exit of the process. */
const open = new Set<Lines>();
const writeRests = () => {
  for (const lines of open) lines.writeRest();
};

/** Opens the log. `format` is `json`, `short` for people, or `auto`: short on a terminal, otherwise JSON. */
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
  /** The latest lines, which are not yet a part. A growing string is faster than an array or a buffer of lines. */
  #latest = '';
  /** The parts that wait to be written. */
  readonly #parts: Buffer[] = [];
  /** The total length of `#parts`, in bytes. */
  #length = 0;
  /**
   * The bytes of the current piece that the last write has not written, because it failed or wrote only some of the
   * bytes.
   */
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

  /**
   * Writes the remaining lines synchronously when the process ends, because Node does not wait for asynchronous writes.
   */
  writeRest(): void {
    try {
      writeSync(this.#fd, Buffer.concat([this.#left, ...this.#parts, Buffer.from(this.#latest)]));
    } catch {
      // The error cannot be logged, because it is an error of the log.
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

  /** Joins the next parts to a piece: as many parts as fit, and at least one. */
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
