/** The migrations of a database: SQL files, whose numbers are the versions of its schema; the engine and each collection have theirs. */
import { readdirSync, readFileSync } from 'node:fs';
import type { AnyDomain } from './description.ts';
import { toTables } from './table.ts';

export interface Part {
  /** `engine`, or the name of a collection. */
  name: string;
  /** The SQL of each migration, in order; the first brings an empty database to version 1. */
  migrations: string[];
}

/** By the folder of a database: `sqlite` or `postgres`. */
export function loadParts(database: 'sqlite' | 'postgres', domain: AnyDomain): Part[] {
  const ofCollections = toTables(domain).map(({ collection: name }) => ({
    name,
    migrations: readMigrations(new URL(`${database}/`, domain[name]?.migrations)),
  }));
  const ofEngine = readMigrations(new URL(`${database}/migrations/`, import.meta.url));
  return [{ name: 'engine', migrations: ofEngine }, ...ofCollections];
}

export function readMigrations(folder: URL): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(new URL(name, folder), 'utf8'));
}

/** The versions that a database has, by the names of the parts. @throws Error where it is not this program's, or a newer program's */
export function checkVersions(versions: ReadonlyMap<string, number>, parts: readonly Part[]): void {
  const unknown = [...versions.keys()].filter((name) => !parts.some((part) => part.name === name));
  if (unknown.length > 0) throw new Error(`it keeps ${unknown}, which this program does not know`);
  for (const { name, migrations } of parts) {
    const version = versions.get(name) ?? 0;
    if (version <= migrations.length) continue;
    throw new Error(`its schema (${name}) has version ${version}, and this program knows ${migrations.length} at most`);
  }
}

/** One number for people and tools: how many migrations a database has had in all. */
export const numberOf = (versions: ReadonlyMap<string, number>) =>
  [...versions.values()].reduce((sum, one) => sum + one, 0);

/** And how many there are. */
export const newestOf = (parts: readonly Part[]) => parts.reduce((sum, { migrations }) => sum + migrations.length, 0);

export const isCurrent = (versions: ReadonlyMap<string, number>, parts: readonly Part[]) =>
  parts.every(({ name, migrations }) => versions.get(name) === migrations.length);

/** The migrations that a database has not had yet. */
export const pendingOf = (versions: ReadonlyMap<string, number>, parts: readonly Part[]): string[] =>
  parts.flatMap(({ name, migrations }) => migrations.slice(versions.get(name)));

/** The tables that these migrations make. */
export const tablesMadeBy = (migrations: readonly string[]): string[] =>
  migrations.flatMap((sql) =>
    [...sql.matchAll(/\bCREATE (?:UNLOGGED )?TABLE (\w+)/gi)].map(([, name]) => name as string),
  );

/** Where a migration would make one of these tables, or there are others in a file of its own. @throws Error that names them */
export function refuseTables(found: readonly string[]): void {
  if (found.length === 0) return;
  const names = found.length > 3 ? [...found.slice(0, 3), '…'] : found;
  throw new Error(
    `it has tables that are not of this program, or of one from before its first release: ${names.join(', ')}`,
  );
}
