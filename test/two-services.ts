/** The pet store and the stations service, which differs from it in all respects. Both run from the built package. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import type { Service } from '../src/contract-first/start/service.ts';
import { service as pets } from '../src/generated/service.ts';
import { makeProjectFolder } from './program.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { TEST_PROGRAM = ROOT } = process.env;
const ENV = { ...process.env, NODE_OPTIONS: '', NODE_V8_COVERAGE: '' };

/** A project with the built package in its `node_modules`, and a function that runs the package's commands there. */
export interface Project {
  folder: string;
  run: (...args: string[]) => SpawnSyncReturns<string>;
}

export function copyStations(t: Test): Project {
  const folder = makeProjectFolder(t);
  cpSync(join(ROOT, 'test/stations'), folder, { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  const installed = join(folder, 'node_modules/contract-first');
  symlinkSync(join(TEST_PROGRAM, 'node_modules/contract-first'), installed);
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(installed, 'dist/cli/main.js'), ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: ENV,
    });
  return { folder, run };
}

/** Generates and compiles the project. Types are not checked here, because `test/scripts/tarball.deep.ts` does so. */
export async function buildStations(t: Test): Promise<Project & { service: Service }> {
  const project = copyStations(t);
  const { status, stderr } = project.run('generate');
  if (status !== 0) throw new Error(stderr);
  const program = pathToFileURL(join(project.folder, 'node_modules/contract-first/dist/cli/program.js'));
  const text = `import { writeProgram } from '${program}'; await writeProgram('dist');`;
  const written = spawnSync(process.execPath, ['--input-type=module', '--eval', text], {
    ...{ cwd: project.folder, encoding: 'utf8', env: ENV },
  });
  if (written.status !== 0) throw new Error(written.stderr);
  const { service } = await import(pathToFileURL(join(project.folder, 'dist/src/generated/service.js')).href);
  return { ...project, service };
}

/** The facts about a service that the shared tests need. */
export interface Subject {
  service: Service;
  /** The path at which records are listed and created. */
  list: string;
  record: Record<string, unknown>;
  /** The operationId of the list. */
  listId: string;
  /** The path of a record that does not exist. */
  absent: string;
  /** A path with a parameter that the contract rejects. */
  wrong: string;
  /** Returns where a valid key can be sent: in a header, or in a text to append to the URL. */
  toKeyed: (key: string) => { header?: Record<string, string>; query?: string }[];
  challenge: RegExp;
  /** The media type of errors. `isError` checks that an error body is in the service's form. */
  errorType: string;
  isError: (body: Record<string, unknown>, status: number) => boolean;
  path: string;
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

export const PETS: Subject = {
  service: pets,
  list: '/v1/pets',
  listId: 'listPets',
  record: { name: 'Rex', categoryId: 7 },
  absent: '/v1/pets/9',
  wrong: '/v1/pets?limit=0',
  toKeyed: (key) => [{ header: { authorization: `Bearer ${key}` } }],
  challenge: /^Bearer /,
  errorType: 'application/json; charset=utf-8',
  isError: ({ code, message, status }, expected) =>
    typeof code === 'string' && typeof message === 'string' && status === expected,
  path: '/openapi.json',
};

export const toStations = (service: Service): Subject => ({
  service,
  list: '/v1/Me%C3%9Fstellen',
  listId: 'list-stations',
  record: { name: 'Brocken', region: 'Harz', height: 1141.2 },
  absent: '/v1/Me%C3%9Fstellen/none',
  wrong: '/v1/Me%C3%9Fstellen?page_size=0',
  toKeyed: (key) => [
    { header: { authorization: basic(`anyone:${key}`) } },
    { header: { authorization: basic(`${key}:`) } },
    { query: `key=${key}` },
  ],
  challenge: /^Basic /,
  errorType: 'application/problem+json',
  isError: ({ type, title, status, detail }, expected) =>
    type === 'about:blank' && typeof title === 'string' && typeof detail === 'string' && status === expected,
  path: '/openapi.json',
});
