/** Migration files: which ones are rejected before any runs, and which records a migration keeps. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import type { AnyCollection, Fields } from '../../src/contract-first/store/collection.ts';
import type { Database } from '../../src/contract-first/store/database-url.ts';
import { inspectDatabase, openStore } from '../../src/contract-first/store/open-store.ts';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import type { Store } from '../../src/contract-first/store/store.ts';
import type { AnyDomain } from '../../src/contract-first/store/tables/description.ts';
import { LIMITS } from '../database.ts';
import { domain as DOMAIN } from '../members/domain.ts';
import { schemaOf, settingsOf, startPostgres } from '../postgres.ts';

const postgres = await startPostgres(t);

type Clubs = Record<keyof typeof DOMAIN, AnyCollection>;

/** The SQL of each file, by names such as `clubs/0001-clubs.sql`. */
type Files = Record<string, string>;

/** A database, and a program whose migration files the test changes. */
interface Place {
  kind: 'sqlite' | 'postgres';
  files: Files;
  /** Starts the program with these files. */
  open(): Promise<Store<Clubs>>;
  /** Inspects the database as `--check` does. */
  check(): ReturnType<typeof inspectDatabase>;
  /** Runs SQL like another program. Returns rows if the SQL begins with SELECT. */
  execute(sql: string): Promise<Fields[]>;
}

function toPlace(t: Test, database: Exclude<Database, { kind: 'memory' }>, execute: Place['execute']): Place {
  const { kind } = database;
  const root = join(t.testdirName, 'files');
  const toUrl = (folder: string) => pathToFileURL(`${root}/${folder}/`);
  const domain: AnyDomain = Object.fromEntries(
    Object.entries(DOMAIN).map(([name, one]) => [name, { ...one, migrations: toUrl(name) }]),
  );
  const own = Object.entries(DOMAIN).map(([name, { migrations }]) => {
    const file = `0001-${name}.sql`;
    return [`${name}/${file}`, readFileSync(new URL(`${kind}/${file}`, migrations), 'utf8')];
  });
  const place: Place = {
    kind,
    files: Object.fromEntries(own),
    open: async () => {
      write();
      const store = await openStore(database, domain, LIMITS);
      t.teardown(() => store.close());
      return store as Store<object> as Store<Clubs>;
    },
    check: async () => {
      write();
      return inspectDatabase(database, domain);
    },
    execute,
  };
  function write(): void {
    rmSync(root, { recursive: true, force: true });
    for (const [name, sql] of Object.entries(place.files)) {
      const file = name.replace('/', `/${kind}/`);
      mkdirSync(join(root, dirname(file)), { recursive: true });
      writeFileSync(join(root, file), sql);
    }
  }
  return place;
}

function prepareFile(t: Test): Place {
  const file = join(t.testdir(), 'clubs.db');
  return toPlace(t, { kind: 'sqlite', file }, async (sql) => {
    const db = new Sqlite(file);
    try {
      if (sql.startsWith('SELECT')) return db.prepare<[], Fields>(sql).all();
      db.exec(sql);
      // Reads in one turn of the event loop share a snapshot. The next turn sees this change.
      await nextTurn();
      return [];
    } finally {
      db.close();
    }
  });
}

function prepareSchema(t: Test): Place {
  t.testdir();
  const url = postgres.newUrl();
  return toPlace(t, { kind: 'postgres', ...settingsOf(url) }, async (sql) => {
    const client = await postgres.open(`-c search_path=${schemaOf(url)}`);
    return client
      .query(sql)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  });
}

/** Runs a test on a SQLite file and on PostgreSQL. */
function onBoth(sentence: string, test: (t: Test, place: Place) => Promise<void>): void {
  t.test(`${sentence}, on SQLite`, (t) => test(t, prepareFile(t)));
  t.test(`${sentence}, on PostgreSQL`, (t) => test(t, prepareSchema(t)));
}

/** Starts the program, creates records, and ends the program. */
async function fill({ open }: Place): Promise<void> {
  const store = await open();
  const { clubs, members, visits } = store.collections;
  await clubs.createAll([{ name: 'a' }, { name: 'b' }]);
  await members.create({ email: 'ada', clubId: 1n, nickname: 'Ada', position: 1n });
  await members.create({ email: 'ben', clubId: 2n, position: 1n });
  await visits.createAll([{ member: 'ada' }, { member: 'ada' }, { member: 'ben' }]);
  await store.close();
}

const CLUBS = '[{"id":1,"name":"a"},{"id":2,"name":"b"}]';

const textsOf = async (collection: AnyCollection) => (await collection.list({ limit: 9 }))?.body.text;

const failureOf = async (action: () => unknown): Promise<string> => {
  try {
    await action();
    return 'it does not fail';
  } catch (error) {
    return (error as Error).message;
  }
};

/** Checks that the start and the check of a start fail with this message. */
async function refuses(t: Test, { open, check }: Place, words: string): Promise<void> {
  const failure = await failureOf(open);
  t.ok(failure.endsWith(` cannot be used: ${words}.`), failure);
  t.equal(await failureOf(check), words);
}

/** Counts how many of these tables exist. */
async function countOf({ execute }: Place, ...names: string[]): Promise<number> {
  const found = names.map((name) => execute(`SELECT * FROM ${name}`).then(Boolean, () => false));
  return (await Promise.all(found)).filter(Boolean).length;
}

const table = (name: string) => `CREATE TABLE ${name} (id bigint)`;

/** Rebuilds a table as SQLite's manual recommends for changes that ALTER TABLE cannot make. */
const REBUILD = {
  clubs: `
    PRAGMA foreign_keys = OFF;
    CREATE TABLE new_clubs (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, note TEXT) STRICT;
    INSERT INTO new_clubs (id, name) SELECT id, name FROM clubs;
    DROP TABLE clubs;
    ALTER TABLE new_clubs RENAME TO clubs;
    CREATE UNIQUE INDEX clubs_by_name ON clubs (name COLLATE NOCASE);
    PRAGMA foreign_keys = ON;`,
  members: `
    CREATE TABLE new_members (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      email TEXT NOT NULL UNIQUE,
      club_id INTEGER NOT NULL REFERENCES clubs (id) ON DELETE CASCADE,
      nickname TEXT,
      position INTEGER NOT NULL,
      note TEXT
    ) STRICT;
    INSERT INTO new_members SELECT *, NULL FROM members;
    DROP TABLE members;
    ALTER TABLE new_members RENAME TO members;
    CREATE UNIQUE INDEX members_by_nickname ON members (club_id, nickname COLLATE NOCASE);
    CREATE UNIQUE INDEX members_by_position ON members (club_id, position);`,
};

t.test('a migration that rebuilds the table of parent records keeps their child records', async (t) => {
  const place = prepareFile(t);
  await fill(place);
  await place.execute('DELETE FROM visits');
  place.files['clubs/0002-notes.sql'] = REBUILD.clubs;
  const { clubs, members } = (await place.open()).collections;
  t.equal(await textsOf(clubs), CLUBS);
  t.match(await textsOf(members), /"ada".*"ben"/);
  await clubs.delete(1n);
  t.notMatch(await textsOf(members), 'ada');
  await place.execute("UPDATE clubs SET name = 'c'");
  t.equal(await textsOf(clubs), '[{"id":2,"name":"c"}]', 'changes by another program are visible');
});

t.test('a migration that rebuilds a table keeps the records that refer to it', async (t) => {
  const place = prepareFile(t);
  await fill(place);
  place.files['members/0002-notes.sql'] = REBUILD.members;
  const { members, visits } = (await place.open()).collections;
  t.match(await textsOf(members), /"ada".*"ben"/);
  t.match(await textsOf(visits), /"ada".*"ada".*"ben"/);
  t.match(await visits.create({ member: 'nobody' }), { refused: 'no_such_members' });
  t.match(await members.delete('ada'), { refused: 'referenced' });
});

t.test('after a migration rebuilds a table, the id of a deleted record is not used again', async (t) => {
  for (const deleted of ['id = 2', 'true']) {
    const place = prepareFile(t);
    await fill(place);
    await place.execute(`DELETE FROM visits; DELETE FROM members; DELETE FROM clubs WHERE ${deleted}`);
    place.files['clubs/0002-notes.sql'] = REBUILD.clubs;
    t.match(await (await place.open()).collections.clubs.create({ name: 'c' }), { id: 3n }, deleted);
  }
});

t.test(
  'a migration that deletes rows to which other rows refer is undone, and the error names the table and the file',
  async (t) => {
    const place = prepareFile(t);
    await fill(place);
    const { files } = place;
    place.files = {
      ...files,
      'clubs/0002-notes.sql': REBUILD.clubs,
      'members/0002-less.sql': "DELETE FROM members WHERE email = 'ada'",
    };
    const why = 'members/0002-less.sql: rows of visits that refer to no row of members: 2';
    t.match(await failureOf(place.open), ` cannot be used: ${why}.`);
    place.files = files;
    t.match(await textsOf((await place.open()).collections.members), 'ada');
  },
);

const GONE = 'and is not there: start a newer program, or put the file back';

/** Changes of the files after two of them have run, and the message of the start. */
const REFUSED: [sentence: string, change: (files: Files) => Files, words: string][] = [
  [
    'a gap in the numbers of the files',
    (files) => ({ ...files, 'members/0004-a.sql': table('a') }),
    `members/0004-a.sql must begin with 0003-, the next number`,
  ],
  [
    'two files with the same number, and a file without a number',
    (files) => ({
      ...files,
      'members/0002-d.sql': table('a'),
      'visits/a.sql': table('a'),
    }),
    `members/0002-d.sql must begin with 0003-, the next number; visits/a.sql must begin with 0002-, the next number`,
  ],
  [
    'a file that was edited after it had run',
    (files) => ({ ...files, 'clubs/0002-b.sql': `${files['clubs/0002-b.sql']}; ${table('a')}` }),
    'clubs/0002-b.sql was edited after it had run: undo that, and add another file',
  ],
  [
    'a file that has run and is missing',
    ({ 'clubs/0002-b.sql': _, ...files }) => files,
    `clubs/0002-b.sql has run, ${GONE}`,
  ],
  [
    'a collection whose files have run and are missing',
    ({ 'visits/0001-visits.sql': _, ...files }) => files,
    `visits/0001-visits.sql has run, ${GONE}`,
  ],
  [
    'a file with a lower number than one that has run',
    ({ 'clubs/0001-clubs.sql': first = '', ...files }) => ({ ...files, 'clubs/0001-a.sql': first }),
    `clubs/0001-clubs.sql has run, ${GONE}; clubs/0001-a.sql was added after 0002-b.sql had run: give it the next number`,
  ],
  [
    'files with the names of copies or of other systems',
    (files) => ({
      ...files,
      'members/0003-a.SQL': table('a'),
      'visits/0001-visits (copy).sql': table('a'),
      'visits/._0001-visits.sql': '\0',
    }),
    ['members/0003-a.SQL', 'visits/._0001-visits.sql', 'visits/0001-visits (copy).sql']
      .map((file) => `${file} is not named like 0001-books.sql: rename or remove it`)
      .join('; '),
  ],
  [
    'a migration that changes a table of the engine',
    (files) => ({ ...files, 'members/0003-a.sql': `${table('a')}; /* gone: */ DROP TABLE "Api_Keys"` }),
    'members/0003-a.sql names Api_Keys, a table of the engine: it may change only its own tables',
  ],
  [
    'a migration with transaction control, such as COMMIT',
    (files) => ({ ...files, 'members/0003-a.sql': `${table('a')}; COMMIT; INSERT INTO a VALUES (1); BEGIN;` }),
    'members/0003-a.sql has COMMIT, and all migrations run in one transaction',
  ],
];

onBoth(
  'the start and `--check` reject a wrong migration file by its name, before any migration runs',
  async (t, place) => {
    place.files['clubs/0002-b.sql'] = `${table('b')};\n-- A comment;\n`;
    await fill(place);
    const { files } = place;
    for (const [sentence, change, words] of REFUSED) {
      t.comment(sentence);
      place.files = change({ ...files, 'members/0002-c.sql': table('c') });
      await refuses(t, place, words);
      t.equal(await countOf(place, 'a', 'c'), 0);
    }
    place.files = files;
    t.equal(await textsOf((await place.open()).collections.clubs), CLUBS);
  },
);

onBoth(
  'a server still starts if only line endings or trailing spaces of its migration files have changed',
  async (t, place) => {
    await fill(place);
    for (const [name, sql] of Object.entries(place.files)) place.files[name] = `${sql.replaceAll('\n', '\r\n')} \n\n`;
    t.equal(await textsOf((await place.open()).collections.clubs), CLUBS);
  },
);

onBoth('if one of the migration files is wrong, the start of a new database runs none of them', async (t, place) => {
  place.files['visits/0003-a.sql'] = table('a');
  await refuses(t, place, `visits/0003-a.sql must begin with 0002-, the next number`);
  t.equal(await countOf(place, 'a', 'clubs', 'api_keys'), 0);
});

onBoth(
  'if a migration fails, the error names it, and all migrations of the same start are undone',
  async (t, place) => {
    const { files } = place;
    const failing = { 'clubs/0002-b.sql': table('b'), 'members/0002-c.sql': 'INSERT INTO nowhere VALUES (1)' };
    for (const tables of [['b', 'clubs', 'api_keys'], ['b']]) {
      place.files = { ...files, ...failing };
      t.match(await failureOf(place.open), / cannot be used: members\/0002-c\.sql: .*nowhere/);
      t.equal(await countOf(place, ...tables), 0);
      place.files = files;
      if (tables.length > 1) await fill(place);
    }
    t.equal(await textsOf((await place.open()).collections.clubs), CLUBS);
  },
);

onBoth('`--check` lists the pending migrations by name, and changes nothing', async (t, place) => {
  const names = () => readdirSync(t.testdirName).filter((name) => name.startsWith('clubs.db'));
  const state = () => names().map((name) => [name, readFileSync(join(t.testdirName, name), 'latin1')]);
  await fill(place);
  place.files['clubs/0002-b.sql'] = table('b');
  place.files['visits/0002-c.sql'] = table('c');
  const before = state();
  t.match(await place.check(), { version: 6, newest: 8, pending: ['clubs/0002-b.sql', 'visits/0002-c.sql'] });
  t.strictSame(state(), before);
  t.equal(await countOf(place, 'b', 'c'), 0);
  await place.open();
  t.match(await place.check(), { version: 8, newest: 8, pending: [] });
});

onBoth(
  'a server does not start if its files lack the last migration that has run on the database',
  async (t, place) => {
    const { files } = place;
    place.files = { ...files, 'clubs/0002-b.sql': table('b') };
    await fill(place);
    place.files = files;
    await refuses(t, place, `clubs/0002-b.sql has run, ${GONE}`);
  },
);

/** SQL that is accepted, although it contains words such as COMMIT in texts, names, comments and bodies. */
const HARMLESS = {
  sqlite: [
    "INSERT INTO a VALUES ('; COMMIT; it''s'); -- ; COMMIT; don't\n/* /* ; COMMIT; ' */ SELECT 1",
    'CREATE TABLE b ("; COMMIT;" int, [; END; ] int, `;BEGIN;` int, "end" int, begin int)',
    `CREATE TEMP TRIGGER c AFTER INSERT ON a BEGIN
      UPDATE b SET begin = CASE WHEN NEW.id = 1 THEN 1 ELSE 2 END; UPDATE b SET end = 1; END;`,
    'CREATE TRIGGER d AFTER INSERT ON a BEGIN DELETE FROM b; /* ; COMMIT; */ END',
    '; ;\uFEFF SELECT 1 AS "commit"; -- \r ; COMMIT; \'\n/* The end',
  ],
  postgres: [
    "INSERT INTO a VALUES (length('; COMMIT; it''s')); -- ; COMMIT; don't\n/* /* ; */ ; COMMIT; ' */ SELECT 1",
    `SELECT E'\\'; COMMIT; it''s \\\\', e'', date '2000-01-01', ARRAY['a;', '; END;'], '\\' AS "; COMMIT"`,
    'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN COMMIT; RETURN NEW; END $$; SELECT 1',
    'DO $a$ BEGIN PERFORM 1; EXECUTE $$ SELECT 1; $$; END; $a$; DO $é_1$ BEGIN NULL; END $é_1$',
    'CREATE FUNCTION g(a$b$c int) RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN a$b$c = 1 THEN 1 END; END;',
    'CREATE OR REPLACE PROCEDURE h() BEGIN ATOMIC END; PREPARE p AS SELECT 1; DEALLOCATE p',
    'CREATE RULE r AS ON INSERT TO a DO ALSO (DELETE FROM a WHERE id = 1; NOTIFY x); ; SELECT 1',
  ],
};

onBoth('a comment in a migration may name a table of the engine', async (t, place) => {
  place.files['clubs/0002-a.sql'] = `-- like api_keys\n${table('a')} /* key_uses */`;
  t.equal(await failureOf(place.open), 'it does not fail');
});

onBoth(
  "the start fails and names a NOT NULL column that has no DEFAULT and no field in the collection's description",
  async (t, place) => {
    const { files } = place;
    const bigint = place.kind === 'sqlite' ? 'INTEGER' : 'bigint';
    const empty =
      'the column clubs.a is NOT NULL, and nothing fills it: describe it in domain.ts, or give it a DEFAULT';
    const [, body = ''] = /CREATE TABLE clubs \(([^;]*)\)/i.exec(files['clubs/0001-clubs.sql'] as string) ?? [];
    const withColumn = (column: string) =>
      files['clubs/0001-clubs.sql']?.replace(body, `a ${bigint} ${column}, ${body}`);
    place.files = { ...files, 'clubs/0001-clubs.sql': withColumn('NOT NULL') as string };
    const failure = await failureOf(place.open);
    t.ok(failure.endsWith(`: ${empty}.`), failure);
    t.equal(await countOf(place, 'clubs', 'api_keys'), 0);
    place.files = { ...files, 'clubs/0001-clubs.sql': withColumn('NOT NULL DEFAULT 1') as string };
    const { clubs } = (await place.open()).collections;
    t.match(await clubs.create({ name: 'a' }), { id: 1n });
    // Then another program removes the default. The next start and its check find that.
    if (place.kind === 'sqlite') return;
    await place.execute('ALTER TABLE clubs ALTER a DROP DEFAULT');
    await refuses(t, place, empty);
  },
);

t.test('a column without a field may be NOT NULL if a trigger fills it', async (t) => {
  const place = prepareSchema(t);
  place.files['clubs/0002-a.sql'] = `
    CREATE FUNCTION fill_a() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.a = 1; RETURN NEW; END $$;
    CREATE TRIGGER fill_a BEFORE INSERT ON clubs FOR EACH ROW EXECUTE FUNCTION fill_a();
    ALTER TABLE clubs ADD a bigint NOT NULL`;
  const { clubs } = (await place.open()).collections;
  t.match(await clubs.create({ name: 'a' }), { id: 1n });
});

onBoth(
  'a migration may contain words such as COMMIT in strings, names, comments and function bodies',
  async (t, place) => {
    const sql = HARMLESS[place.kind].map((sql, index) => [`clubs/000${index + 3}-a.sql`, sql]);
    Object.assign(place.files, { 'clubs/0002-a.sql': table('a'), ...Object.fromEntries(sql) });
    t.equal(await failureOf(place.open), 'it does not fail');
  },
);

/** SQL that would end the migrations' transaction, or roll back a part of it, and the word that the error names. */
const CONTROL: Record<Place['kind'], [sql: string, word: string][]> = {
  sqlite: [
    ['begin immediate', 'BEGIN'],
    ['SELECT 1;end', 'END'],
    ['/* ; */ -- \n\tRollback;', 'ROLLBACK'],
    ['SAVEPOINT a', 'SAVEPOINT'],
    ['RELEASE a', 'RELEASE'],
    ["ATTACH 'a' AS b", 'ATTACH'],
    ["SELECT 'it''s', '\\'; COMMIT; --'", 'COMMIT'],
    ['SELECT "a""b", [c], `d`; COMMIT', 'COMMIT'],
    ['/* /* */ COMMIT; /* */', 'COMMIT'],
    ["-- \r '\nCOMMIT", 'COMMIT'],
    ['SELECT $a$; COMMIT; SELECT $a$', 'COMMIT'],
    ['CREATE TRIGGER a AFTER INSERT ON clubs BEGIN SELECT CASE 1 WHEN 1 THEN 1 END; END; COMMIT', 'COMMIT'],
  ],
  postgres: [
    ['START TRANSACTION', 'START'],
    ['abort', 'ABORT'],
    ["PREPARE /* it */ TRANSACTION 'a'", 'PREPARE TRANSACTION'],
    ['SELECT 1;COMMIT AND CHAIN', 'COMMIT'],
    ["SELECT E'\\\\', '\\'; COMMIT; --'", 'COMMIT'],
    ['/* /* */ */ COMMIT', 'COMMIT'],
    ['-- a\rCOMMIT', 'COMMIT'],
    ['SELECT $$a$$; COMMIT; SELECT $$', 'COMMIT'],
    ['SELECT 1 AS a$b$c; COMMIT; SELECT 1 AS a$b$c', 'COMMIT'],
    ['CREATE FUNCTION a() RETURNS int BEGIN ATOMIC SELECT 1; END; COMMIT', 'COMMIT'],
    ['CREATE TRIGGER a BEFORE INSERT ON clubs FOR EACH ROW EXECUTE FUNCTION a(); COMMIT; END', 'COMMIT'],
  ],
};

onBoth('a migration is rejected if any of its statements controls transactions, such as COMMIT', async (t, place) => {
  for (const [sql, word] of CONTROL[place.kind]) {
    place.files['clubs/0002-a.sql'] = sql;
    t.match(await failureOf(place.check), `clubs/0002-a.sql has ${word},`, sql);
  }
});

t.test('after a migration renames or rebuilds a table, reads still show changes by other programs', async (t) => {
  const place = prepareFile(t);
  await fill(place);
  place.files['clubs/0002-a.sql'] = 'ALTER TABLE clubs RENAME TO a; ALTER TABLE a RENAME TO clubs;';
  await (await place.open()).close();
  place.files['clubs/0003-notes.sql'] = REBUILD.clubs;
  await (await place.open()).close();
  const { clubs } = (await place.open()).collections;
  t.equal(await textsOf(clubs), CLUBS);
  await place.execute("UPDATE clubs SET name = 'c' WHERE id = 2");
  t.match(await textsOf(clubs), '"c"');
});
