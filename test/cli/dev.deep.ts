import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { linkModules } from '../program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NEEDED = ['src', 'handlers', 'openapi', 'scripts', 'package.json', 'tsconfig.json'];
const KEY = 'key-of-the-tests-0123456789';
const ORIGIN = /"origin":"[^"]+"/;
const ENVIRONMENT = { ...process.env, NODE_V8_COVERAGE: '', API_KEYS: KEY, PORT: '0', DATABASE_URL: 'sqlite::memory:' };

/** Starts npm in a folder, in its own process group like in a terminal. */
function startNpm(t: Test, folder: string, ...args: string[]) {
  const child = spawn('npm', args, {
    cwd: folder,
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // Ends the whole process group: npm and all its child processes.
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  t.teardown(() => isRunning() && process.kill(-(child.pid as number), 'SIGKILL'));
  let output = '';
  let isLeaking = false;
  let isCut = false;
  let origin = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      isLeaking ||= text.includes('MaxListenersExceededWarning');
      isCut ||= text.includes('ERR_MODULE_NOT_FOUND');
      origin = /.*"origin":"([^"]+)"/s.exec(output)?.[1] ?? origin;
      child.emit('output');
    });
  }
  /** Waits for the next match in the output. The next call searches after this match. */
  async function next(pattern: RegExp): Promise<void> {
    for (;;) {
      const match = pattern.exec(output);
      if (match) {
        output = output.slice(match.index + match[0].length);
        return;
      }
      await once(child, 'output');
    }
  }
  /**
   * Returns the status of a reply from the latest server. It retries, because a change may be compiled in two steps and
   * then start two servers.
   */
  async function statusOf(path: string): Promise<number> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await statusAt(origin, path);
      } catch (error) {
        if (tries === 600) throw error;
        await setTimeout(100);
      }
    }
  }
  /**
   * Waits until the latest server answers with this status. If a change starts two servers, the first one still has the
   * old contract.
   */
  async function serves(path: string, status: number): Promise<void> {
    while ((await statusOf(path)) !== status) await setTimeout(100);
  }
  const listening = async () => {
    await next(ORIGIN);
    return origin;
  };
  return {
    child,
    next,
    listening,
    serves,
    statusOf,
    origin: () => origin,
    isLeaking: () => isLeaking,
    isCut: () => isCut,
  };
}

async function statusAt(origin: string, path: string): Promise<number> {
  return (await fetch(origin + path, { headers: { authorization: `Bearer ${KEY}` } })).status;
}

t.test(
  '`npm run dev` restarts the server after each change that has no errors; `npm start` stops the server at a signal',
  async (t) => {
    const folder = t.testdir({});
    // Like a fresh checkout: without the built package.
    const filter = (path: string) => path !== `${ROOT}src/contract-first/dist`;
    for (const name of NEEDED) cpSync(`${ROOT}${name}`, `${folder}/${name}`, { recursive: true, filter });
    linkModules(folder);
    let edits = 0;
    /** Edits a file. Every second time, the contract is saved by replacing the file, as some editors do. */
    const edit = (file: string, from: string, to: string) => {
      const path = `${folder}/${file}`;
      const before = readFileSync(path, 'utf8');
      if (!before.includes(from)) throw new Error(`${file} has no ${from}`);
      const text = before.replaceAll(from, to);
      const isReplaced = file.endsWith('.yaml') && edits++ % 2 === 0;
      writeFileSync(isReplaced ? `${path}~` : path, text);
      if (isReplaced) renameSync(`${path}~`, path);
    };

    const dev = startNpm(t, folder, 'run', 'dev');
    await dev.listening();
    edit('handlers/getPet.ts', 'answer(200,', 'answer(201,');
    await dev.next(/handlers\/getPet\.ts\(\d+,\d+\): error TS/);
    await dev.next(/The last good server goes on\./);
    t.equal(await dev.statusOf('/v1/pets'), 200);

    edit('handlers/getPet.ts', 'answer(201,', 'answer(200,');
    await dev.listening();
    edit('openapi/petstore.yaml', 'openapi: 3.1.0', 'openapi: [');
    await dev.next(/openapi\/petstore\.yaml:\d+:\d+: /);
    edit('handlers/getPet.ts', 'answer(200,', 'answer(200, ');
    for (const _ of ['the contract', 'the handler']) await dev.next(/The last good server goes on\./);
    t.equal(await dev.statusOf('/v1/pets'), 200, 'while the contract is broken, a saved handler has no effect');
    edit('openapi/petstore.yaml', 'openapi: [', 'openapi: 3.1.0');
    await dev.listening();
    for (let save = 0; save < 5; save++) {
      edit('handlers/getPet.ts', 'answer(200,', 'answer(200, ');
      await setTimeout(400);
    }
    edit('openapi/petstore.yaml', '  /pets:', '  /animals:');
    await dev.serves('/v1/animals', 200);
    t.notOk(dev.isCut(), 'a starting server keeps its files if another start follows');

    edit('openapi/petstore.yaml', 'operationId: getPet', 'operationId: fetchPet');
    await dev.next(/operation fetchPet has no handlers\/fetchPet\.ts/);
    await dev.next(/The last good server goes on\./);
    t.equal(await dev.statusOf('/v1/animals'), 200);
    for (let save = 0; save < 12; save++) {
      edit('openapi/petstore.yaml', save === 0 ? 'openapi: 3.1.0' : `openapi: 3.2.${save - 1}`, `openapi: 3.2.${save}`);
      await dev.next(/Errors: 1\./);
    }
    t.notOk(dev.isLeaking(), 'each save removes its listeners');
    edit('openapi/petstore.yaml', 'openapi: 3.2.11', 'openapi: 3.1.0');
    dev.child.kill('SIGTERM');
    t.strictSame(await once(dev.child, 'close'), [null, 'SIGTERM']);
    await t.rejects(statusAt(dev.origin(), '/v1/animals'));

    // Back to the contract that was compiled last.
    edit('openapi/petstore.yaml', 'operationId: fetchPet', 'operationId: getPet');
    const start = startNpm(t, folder, 'start', '--ignore-scripts');
    const origin = await start.listening();
    start.child.kill('SIGTERM');
    await start.next(/"msg":"stopped"/);
    t.strictSame(await once(start.child, 'close'), [null, 'SIGTERM']);
    await t.rejects(statusAt(origin, '/v1/animals'));
  },
);
