/** Migrations: numbered SQL files. The engine and each collection have their own, and a version each. */
import { readdirSync, readFileSync } from 'node:fs';
import type { AnyDomain } from './description.ts';
import { toTables } from './table.ts';

export interface Part {
  /** `engine`, or the name of a collection. */
  name: string;
  /** The SQL of each migration, in order; the first brings an empty database to version 1. */
  migrations: string[];
}

/** Loads the migrations of the engine and of all collections for a database. */
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

/** Checks the versions of a database, by part. @throws Error if it has parts that this program does not know, or a newer version */
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

/** How many migrations there are in all. */
export const newestOf = (parts: readonly Part[]) => parts.reduce((sum, { migrations }) => sum + migrations.length, 0);

export const isCurrent = (versions: ReadonlyMap<string, number>, parts: readonly Part[]) =>
  parts.every(({ name, migrations }) => versions.get(name) === migrations.length);

/** The migrations that a database has not had yet. */
export const pendingOf = (versions: ReadonlyMap<string, number>, parts: readonly Part[]): string[] =>
  parts.flatMap(({ name, migrations }) => migrations.slice(versions.get(name)));

/** The tables that these migrations create. */
export const tablesMadeBy = (migrations: readonly string[]): string[] =>
  migrations.flatMap((sql) =>
    [...sql.matchAll(/\bCREATE (?:UNLOGGED )?TABLE (\w+)/gi)].map(([, name]) => name as string),
  );

/** Refuses a database with these tables, which the migrations would create, or which are not ours. @throws Error that names them */
export function refuseTables(found: readonly string[]): void {
  if (found.length === 0) return;
  const names = found.length > 3 ? [...found.slice(0, 3), '…'] : found;
  throw new Error(
    `it has tables that are not of this program, or of one from before its first release: ${names.join(', ')}`,
  );
}
