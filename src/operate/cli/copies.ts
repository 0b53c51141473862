/** Shared by backup, verify and restore: the database's file, the description beside a copy, and files that are complete or absent. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CONTRACT_DIGEST } from '../../generated/handlers.ts';
import { toPrintableLines } from '../../json/literals.ts';
import { lookInto } from '../../store/sqlite/copies.ts';
import { loadConfig } from '../config.ts';
import { readFileName } from './command.ts';

/** The description beside a copy, as JSON. */
export interface Description {
  /** ISO 8601, in UTC: every write that was answered before is in the copy. */
  begunAt: string;
  bytes: number;
  sha256: string;
  /** The contract that this program serves. */
  contract: { version: string; digest: string };
  /** The version of the schema. */
  schema: number;
  /** How many rows each table has. */
  rows: Record<string, number>;
}

export const descriptionOf = (copy: string) => `${copy}.json`;

/** Prints the result or the failure on standard error; the exit code is 1 after a failure. */
export async function runOnCopy(usage: string, run: (copy: string) => Promise<string>): Promise<void> {
  try {
    tell(await run(readFileName(process.argv.slice(2), usage)));
  } catch (error) {
    tell((error as Error).message);
    process.exitCode = 1;
  }
}

/** A file and its description may come from anybody, so control characters are escaped. */
const tell = (text: string) => console.error(toPrintableLines(text));

/** @throws Error if the configured database is no file */
export function toDatabaseFile(env: NodeJS.ProcessEnv): string {
  const { database } = loadConfig(env);
  if (database.kind === 'sqlite') return database.file;
  if (database.kind === 'memory') throw new Error('DATABASE_URL is in memory, which no other program can see.');
  throw new Error(
    'DATABASE_URL names PostgreSQL: use pg_dump --format=custom and pg_restore, or the snapshots of its provider; to move to another database, export and import.',
  );
}

export async function toDigest(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of createReadStream(file, { highWaterMark: 2 ** 20 })) hash.update(bytes);
  return hash.digest('hex');
}

/** Creates a file for its owner only. Unless it is renamed, it is removed when this process ends, with SQLite's journal of it. */
export function openPart(part: string): Promise<FileHandle> {
  const remove = () => {
    for (const end of ['', '-journal']) rmSync(part + end, { force: true });
  };
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    // Not process.exit, which waits for the thread that copies.
    process.once(signal, () => {
      remove();
      process.kill(process.pid, signal);
    });
  }
  return open(part, 'wx', 0o600);
}

/** Flushes the folder of a file to disk, after the file was renamed. */
export async function syncFolder(file: string): Promise<void> {
  const folder = await open(dirname(file));
  await folder.sync();
  await folder.close();
}

/** The differences of the file from the description of a copy, each with its place. */
export async function toFaults(file: string, copy: string): Promise<string[]> {
  const described = readDescription(copy);
  const { size } = statSync(file);
  const faults: string[] = [];
  const compare = (name: string, found: unknown, expected: unknown) => {
    if (found !== expected) faults.push(`${name}: ${found ?? 'none'}, and not ${expected ?? 'none'}`);
  };
  compare('bytes', size, described.bytes);
  compare('sha256', await toDigest(file), described.sha256);
  try {
    const { faults: found, schema, rows } = lookInto(file);
    faults.push(...found.map((fault) => `integrity: ${fault}`));
    compare('schema', schema, described.schema);
    if (found.length > 0) return faults;
    for (const table of new Set([...Object.keys(rows), ...Object.keys(described.rows)]))
      compare(`rows of ${table}`, rows[table], described.rows[table]);
  } catch (error) {
    faults.push(`integrity: ${(error as Error).message}`);
  }
  return faults;
}

/** @throws Error if there is no description, or it is invalid, or the copy is no file: a pipe may never end */
export function readDescription(copy: string): Description {
  const file = descriptionOf(copy);
  for (const each of [copy, file])
    if (statSync(each, { throwIfNoEntry: false })?.isFile() === false) throw new Error(`${each} is not a file.`);
  try {
    const described = JSON.parse(readFileSync(file, 'utf8'));
    const { bytes, sha256, contract, schema, rows } = described ?? {};
    if ([bytes, sha256, contract?.version, contract?.digest, schema, rows].every((part) => part !== undefined))
      return described;
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}.`);
  }
  throw new Error(`${file} does not describe a backup.`);
}

/** A remark if the contract has changed: the server checks all records by it when it starts. */
export function toRemark({ contract }: Description): string {
  if (contract.digest === CONTRACT_DIGEST) return '';
  return ` It was made with another contract, ${contract.version} (${contract.digest.slice(0, 12)}): the start of the server checks whether all fits this one.`;
}
