/**
 * Runs the tests of a service with Node's test runner, and finds their files, because the runner of Node 20 does not
 * find TypeScript.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findOtherVersion, ProjectError, readPackage } from './project.js';

const REGISTER = new URL('typescript/register.js', import.meta.url);

/** Runs the tests, and returns the exit code. `args` are files and options for Node. */
export async function runTest(args: string[]): Promise<number> {
  readPackage();
  const isOther = findOtherVersion();
  if (isOther) throw new ProjectError(isOther);
  const options = args.filter((one) => one.startsWith('-'));
  const named = args.filter((one) => !one.startsWith('-'));
  const files = named.length > 0 ? named : findTests();
  if (files.length === 0) throw new ProjectError('No tests found: add one to test/, such as test/books.test.ts.');
  const nodeArgs = [`--import=${REGISTER}`, '--test', '--test-reporter=spec', ...options, ...files];
  const [code] = await once(spawn(process.execPath, nodeArgs, { stdio: 'inherit' }), 'exit');
  return Number(code !== 0);
}

function findTests(): string[] {
  const names = existsSync('test') ? readdirSync('test', { recursive: true, encoding: 'utf8' }) : [];
  return names
    .filter((name) => /\.test\.ts$/.test(name))
    .sort()
    .map((name) => join('test', name));
}
