/** The command `migration NAME`: writes the next migration of each collection with a changed description. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { migrateSqlite } from '../../store/sqlite/migrate.ts';
import { Sqlite } from '../../store/sqlite/sqlite.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { buildDomain } from '../generate/service-files.ts';
import { ProjectError } from '../project.js';
import { loadTeamParts } from '../team-parts.ts';
import { type Answers, findNext, type NextMigration } from './next-migration.ts';

const NAME = /^[a-z0-9][a-z0-9-]{0,60}$/;

/** Runs the command, and returns its exit code. */
export async function runMigration(name: string, drop: readonly string[], rename: readonly string[]): Promise<number> {
  if (!NAME.test(name)) throw new ProjectError(`${name}: a migration is named in small letters, digits and hyphens`);
  checkGenerated();
  const { domain } = await loadTeamParts();
  const written = writeNext(domain, name, {
    drop: new Set(drop),
    rename: new Map(rename.map((one) => one.split('=', 2) as [string, string])),
  });
  if ('questions' in written) {
    for (const question of written.questions) console.error(question);
    return 1;
  }
  if (written.files.length === 0) console.log('The migrations make all that the descriptions need.');
  for (const file of written.files) console.log(relative('', file));
  return 0;
}

/**
 * Checks that `generate` has run since a collection was added. Otherwise the collection would get no migration.
 * @throws ProjectError if `generate` has not run
 */
function checkGenerated(): void {
  const file = 'src/generated/domain.ts';
  const { text } = buildDomain(pathToFileURL(`${resolve('src')}/`));
  if (!existsSync(file) || !readFileSync(file, 'utf8').endsWith(text))
    throw new ProjectError(`${file} is not up to date: run npx --no -- contract-first generate`);
}

/**
 * Writes the migrations, and runs those for SQLite in memory. If a start would fail with them, removes their files
 * again.
 * @throws ProjectError with the reason why a start would fail
 */
export function writeNext(
  domain: AnyDomain,
  name: string,
  answers: Answers,
): { files: string[] } | { questions: string[] } {
  const { migrations, questions } = findNext(domain, answers);
  if (questions.length > 0) return { questions };
  const files = migrations.flatMap((migration) => writeFiles(domain, name, migration));
  const db = new Sqlite(':memory:');
  try {
    migrateSqlite(db, domain);
  } catch (error) {
    for (const file of files) rmSync(file);
    throw new ProjectError(`Nothing was written: ${(error as Error).message}`);
  } finally {
    db.close();
  }
  return { files };
}

function writeFiles(domain: AnyDomain, name: string, migration: NextMigration): string[] {
  return (['sqlite', 'postgres'] as const).map((kind) => {
    const folder = fileURLToPath(new URL(`${kind}/`, domain[migration.collection]?.migrations));
    mkdirSync(folder, { recursive: true });
    const count = readdirSync(folder).filter((file) => file.endsWith('.sql')).length;
    const file = `${folder}${String(count + 1).padStart(4, '0')}-${name}.sql`;
    if (!existsSync(file)) writeFileSync(file, migration[kind]);
    return file;
  });
}
