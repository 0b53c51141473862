/** The migrations of a store: SQL files, whose numbers are the versions of its schema. */
import { readdirSync, readFileSync } from 'node:fs';

/** The SQL of each migration, in order; the first brings an empty database to version 1. */
export function readMigrations(directory: URL): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(new URL(name, directory), 'utf8'));
}
