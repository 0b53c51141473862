/** Writes all records and keys to a file, with or without a running server. */
import { closeSync, createWriteStream, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { domain } from '../../generated/domain.ts';
import { type Command, readFileName, refuseCompanions, runCommand } from './command.ts';
import { count, describeCounts } from './progress.ts';
import { EXPORT_START, toLines } from './writing.ts';

const USAGE = `Usage:
  npm run export -- <file>             writes all ${Object.keys(domain).join(', ')} and keys to a file
  node dist/src/operate/cli/export.js <file>   the same without development tools; - is standard output`;

await runCommand({
  readCommand: () => readCommand(process.argv.slice(2)),
  env: process.env,
  tell: console.error,
});

function readCommand(args: string[]): Command {
  const file = readFileName(args, USAGE);
  const isFile = file !== '-';
  if (isFile) refuseOthers(file);
  return {
    run: async (store) => {
      const counts = { keys: 0, records: {} };
      const lines = toLines(count(store.readContents(), counts, domain, console.error), counts, domain);
      await (isFile ? writeFile(lines, file) : write(lines, process.stdout));
      return `Exported ${describeCounts(counts, domain)}.`;
    },
    makesDatabase: false,
  };
}

/** @throws Error if anything but an earlier export would be replaced, such as the database itself */
function refuseOthers(file: string): void {
  refuseCompanions(file);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isFile()) throw new Error(`${file} is not a file.`);
  const start = Buffer.alloc(EXPORT_START.length);
  const descriptor = openSync(file, 'r');
  const length = readSync(descriptor, start);
  closeSync(descriptor);
  if (length > 0 && start.toString() !== EXPORT_START)
    throw new Error(`${file} is there already, and is no export: only an earlier export is replaced.`);
}

/** Writes to another name first: the file gets its name when it is complete, and on disk. */
async function writeFile(lines: AsyncIterable<string>, file: string): Promise<void> {
  const part = `${file}.${process.pid}.part`;
  // Never through a link, nor into a file that others can read.
  const out = createWriteStream(part, { flush: true, flags: 'wx', mode: 0o600 });
  out.once('open', () => process.on('exit', () => rmSync(part, { force: true })));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.once(signal, () => process.exit(1));
  await write(lines, out);
  renameSync(part, file);
}

async function write(lines: AsyncIterable<string>, out: Writable): Promise<void> {
  try {
    await pipeline(lines, out);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new Error(`The export cannot be written: ${(error as Error).message}.`);
  }
}
