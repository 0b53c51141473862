/** Packs and installs the package in folders outside of the project, and starts services there. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { Json } from './any-json.ts';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const KEY = 'key-of-the-tests-0123456789';
/** The environment variables of a developer's shell, without those of the test processes. */
const ENV = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_(?!config_(fetch|registry|cache|ca|cafile|userconfig|proxy|https_proxy|noproxy|strict_ssl|nodedir|disturl))|NODE_(?!EXTRA_CA)|TAP|TEST_|API_KEYS|PORT|DATABASE_URL)/.test(
        name,
      ),
  ),
);

/** A folder outside of the project, which is removed after the test. */
export const base = mkdtempSync(join(tmpdir(), 'contract-first-'));
t.teardown(() => rmSync(base, { recursive: true, force: true }));

export const tryRun = (cwd: string, command: string, ...args: string[]) =>
  spawnSync(command, args, { cwd, env: ENV, encoding: 'utf8' });

/** @throws Error with all output if the command fails */
export function run(cwd: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr } = tryRun(cwd, command, ...args);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${status}\n${stdout}${stderr}`);
  return stdout;
}

/**
 * Packs a copy of the repository, because a build in the repository itself may be in use. `edits` changes or adds files
 * of the package. Returns the path of the tarball.
 */
export function pack(name: string, edits: Record<string, (text: string) => string> = {}) {
  const copy = join(base, name);
  const engine = join(copy, 'src/contract-first');
  for (const path of ['package.json', 'package-lock.json', 'tsconfig.json', 'src/contract-first'])
    cpSync(join(ROOT, path), join(copy, path), { recursive: true, filter: (source) => !source.endsWith('/dist') });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const [path, edit] of Object.entries(edits)) {
    const text = path.endsWith('.json') ? readFileSync(join(engine, path), 'utf8') : '';
    writeFileSync(join(engine, path), edit(text));
  }
  const [made] = JSON.parse(
    run(copy, 'npm', 'pack', '-w', 'contract-first', '--json').replace(/^[\s\S]*?(?=^\[$)/m, ''),
  );
  const file = join(copy, made.filename);
  return { file, tarball: readFileSync(file), files: made.files.map(({ path }: { path: string }) => path) as string[] };
}

/** Starts a service, and waits until it listens. */
export async function start(t: Test, cwd: string, env: Record<string, string>, command: string, ...args: string[]) {
  const child: ChildProcess = spawn(command, args, {
    cwd,
    env: { ...ENV, PORT: '0', DRAIN_DELAY: '0', API_KEYS: KEY, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const exit = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid as number), 'SIGTERM');
    await exit;
  };
  t.teardown(stop);
  let output = '';
  child.stdout?.setEncoding('utf8');
  for await (const text of child.stdout as NonNullable<ChildProcess['stdout']>) {
    output += text;
    if (output.includes('"origin"')) break;
  }
  const [, origin] = /"origin":"([^"]+)"/.exec(output) ?? [];
  if (!origin) throw new Error(`It did not start: ${output}`);
  const request = async (path: string, method = 'GET', body?: object, sent: object = {}) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...sent };
    const reply = await fetch(origin + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: (text && JSON.parse(text)) as Json };
  };
  return { request, stop };
}
