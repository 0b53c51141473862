/**
 * Reads the numbered migration files of the engine and of each collection. A database stores the names and digests of
 * the files that have run on it.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { StoreUnavailable } from '../store.ts';
import type { AnyDomain } from './description.ts';
import { toTables } from './table.ts';

/** A migration that has run on a database. */
export interface Applied {
  /** The owner of the migration: `engine`, or the name of a collection. */
  part: string;
  /** The name of the migration's file. */
  name: string;
  digest: string;
}

export interface Migration extends Applied {
  sql: string;
}

/**
 * Loads the migrations of the engine and of all collections, in the order they run. @throws Error that names all files
 * with problems
 */
export function loadMigrations(database: DatabaseKind, domain: AnyDomain): Migration[] {
  const parts = [
    readMigrations('engine', new URL(`../${database}/migrations/`, import.meta.url)),
    ...toTables(domain).map(({ collection: name }) =>
      readMigrations(name, new URL(`${database}/`, domain[name]?.migrations)),
    ),
  ];
  const [engine = [], ...others] = parts;
  const foreign = others.flat().flatMap((file) => findEngineTables(file, engine, database));
  throwProblems([...parts.flatMap((files) => findMisnamedFiles(files, database)), ...foreign]);
  return parts.flat();
}

function readMigrations(part: string, folder: URL): Migration[] {
  // Also finds files with wrong names, so that they can be reported: some systems and editors write .SQL files, copies,
  // or macOS's ._ files.
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /\.sql/i.test(name)) : [];
  return names.sort().map((name) => {
    const sql = readFileSync(new URL(name, folder), 'utf8');
    // The digest ignores how lines end, because Git and editors change line ends.
    const digest = createHash('sha256').update(sql.replaceAll('\r\n', '\n').trimEnd()).digest('hex');
    return { part, name, digest, sql };
  });
}

function findMisnamedFiles(files: readonly Migration[], database: DatabaseKind): string[] {
  const toNumber = (index: number) => `${String(index + 1).padStart(4, '0')}-`;
  const isNamed = ({ name }: Migration) => /^\w[\w.-]*\.sql$/.test(name);
  const misnamed = files
    .filter((file) => !isNamed(file))
    .map((file) => `${migrationPath(file)} is not named like 0001-books.sql: rename or remove it`);
  const named = files.filter(isNamed);
  const odd = named.findIndex(({ name }, index) => !name.startsWith(toNumber(index)));
  const wrong = named.flatMap((file, index) => {
    const control = findTransactionControl(file.sql, database);
    return [
      ...(index === odd ? [`${migrationPath(file)} must begin with ${toNumber(index)}, the next number`] : []),
      ...(control ? [`${migrationPath(file)} has ${control}, and all migrations run in one transaction`] : []),
    ];
  });
  return [...misnamed, ...wrong];
}

/**
 * Finds a statement in a collection's migration that names a table of the engine, such as `api_keys`. Such a statement
 * could stop the service, or give access to clients without a valid key.
 */
function findEngineTables(file: Migration, engine: readonly Migration[], database: DatabaseKind): string[] {
  const names = engine.flatMap(({ sql }) => createdTables(sql));
  const isNamed = new RegExp(`\\b(?:${names.join('|')})\\b`, 'i');
  for (const { text } of sqlPartsOf(file.sql, database)) {
    const [name] = isNamed.exec(text) ?? [];
    if (name) return [`${migrationPath(file)} names ${name}, a table of the engine: it may change only its own tables`];
  }
  return [];
}

/** Returns the names of the tables that a migration creates. */
export const createdTables = (sql: string): string[] =>
  [...sql.matchAll(/\bCREATE (?:UNLOGGED )?TABLE (\w+)/gi)].map(([, name]) => name as string);

/**
 * Returns the migrations that have not run on a database yet.
 * @throws Error that names all files that are missing, that were edited after they had run, or that are numbered lower
 * than a file that has run
 */
export function planMigrations(files: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const digests = new Map(files.map((file) => [migrationPath(file), file.digest]));
  const had = new Set(applied.map(migrationPath));
  const pending = files.filter((file) => !had.has(migrationPath(file)));
  const changed = applied.flatMap((one) => {
    const digest = digests.get(migrationPath(one));
    if (!digest) return `${migrationPath(one)} has run, and is not there: start a newer program, or put the file back`;
    return digest === one.digest
      ? []
      : `${migrationPath(one)} was edited after it had run: undo that, and add another file`;
  });
  const late = pending.flatMap((file) => {
    const later = applied.find(({ part, name }) => part === file.part && name.slice(0, 4) > file.name.slice(0, 4));
    return later ? `${migrationPath(file)} was added after ${later.name} had run: give it the next number` : [];
  });
  throwProblems([...changed, ...late]);
  return pending;
}

function throwProblems(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('; '));
}

/** Returns the name of a migration's file for messages, such as `engine/0002-api-keys.sql`. */
export const migrationPath = ({ part, name }: Applied) => `${part}/${name}`;

/** Returns an error with a message that begins with the name of the migration's file. */
export function migrationError(migration: Migration, error: unknown): Error {
  const { message } = (error instanceof StoreUnavailable ? error.cause : error) as Error;
  return new Error(`${migrationPath(migration)}: ${message}`, { cause: error });
}

/**
 * Throws if `found` contains any names. The caller passes the names of tables that exist although this program's
 * migrations have not created them.
 * @throws Error that names these tables
 */
export function checkNoTables(found: readonly string[]): void {
  if (found.length === 0) return;
  const names = found.length > 3 ? [...found.slice(0, 3), '…'] : found;
  throw new Error(`it has tables of another program, or of a version before the first release: ${names.join(', ')}`);
}

export type DatabaseKind = 'sqlite' | 'postgres';

/** Matches a semicolon, a word, and the beginning of a comment, of a string or of a quoted name. */
const TOKENS = {
  sqlite: /(--|\/\*|['"`[])|;|\w+/g,
  postgres: /(--|\/\*|e?'|"|\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|;|[\w$\u0080-\uffff]+/gi,
};

/** The ends of comments, strings and quoted names, if they differ from the beginning. */
const ENDS: Record<string, string> = { '--': '\n', '/*': '*/', '[': ']', "e'": "'" };

/**
 * Matches the tokens that matter inside a comment or a string of PostgreSQL, which allows comments in comments, and
 * escaped quotes in strings.
 */
const NESTED_TOKENS: Record<string, RegExp> = { '/*': /\/\*|\*\//g, "e'": /\\[\s\S]|''|'/g };

/** Matches the first words of a statement that contains other statements. Such a statement ends with END. */
const WITH_BODY = { sqlite: /^CREATE (?:TEMP |TEMPORARY )?TRIGGER /, postgres: /^CREATE .* BEGIN ATOMIC / };
const BODY_ENDS = /(?:;|ATOMIC) END $/;

const CONTROL = /^(?:BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|ATTACH|PREPARE TRANSACTION)\b/;

/**
 * Returns the first words of a statement that begins or ends a transaction; undefined if the file contains no such
 * statement. A COMMIT in the middle of a file would make the statements before it permanent even if a later one fails.
 */
function findTransactionControl(sql: string, database: DatabaseKind): string | undefined {
  // In PostgreSQL a carriage return also ends a comment; in SQLite it does not.
  const text = database === 'postgres' ? sql.replaceAll('\r', '\n') : sql;
  let statement = '';
  for (const word of [...wordsOf(text, database), ';']) {
    const isOver = word === ';' && (!WITH_BODY[database].test(statement) || BODY_ENDS.test(statement));
    const [control] = (isOver && CONTROL.exec(statement)) || [];
    if (control) return control;
    statement = isOver ? '' : `${statement}${word} `;
  }
  return undefined;
}

/** Yields the words and semicolons of SQL, in upper case. Skips comments, strings and quoted names. */
function* wordsOf(sql: string, database: DatabaseKind): Generator<string> {
  for (const { text, isQuoted } of sqlPartsOf(sql, database)) if (!isQuoted) yield text.toUpperCase();
}

/** Yields the words, semicolons, strings and quoted names of SQL. Skips comments. */
export function* sqlPartsOf(sql: string, database: DatabaseKind): Generator<{ text: string; isQuoted: boolean }> {
  const tokens = new RegExp(TOKENS[database]);
  for (let token = tokens.exec(sql); token; token = tokens.exec(sql)) {
    const [text, start] = token;
    if (start) tokens.lastIndex = endOf(sql, tokens.lastIndex, start, database);
    if (start !== '--' && start !== '/*')
      yield { text: sql.slice(token.index, start ? tokens.lastIndex : token.index + text.length), isQuoted: !!start };
  }
}

function endOf(sql: string, from: number, start: string, database: DatabaseKind): number {
  const end = ENDS[start.toLowerCase()] ?? start;
  const parts = database === 'postgres' ? NESTED_TOKENS[start.toLowerCase()] : undefined;
  let depth = 1;
  for (const { 0: part, index } of parts ? sql.slice(from).matchAll(parts) : []) {
    depth += part === end ? -1 : Number(part === start);
    if (depth === 0) return from + index + end.length;
  }
  const first = sql.indexOf(end, from);
  return first < 0 ? sql.length : first + end.length;
}
