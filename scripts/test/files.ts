/** The files with tests, the slowest first, so that no core waits for one of them at the end. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Only their order matters. */
const LONGEST = [
  'process',
  'store/postgres',
  'adding-an-operation',
  'docs/swagger-ui',
  'telemetry/log',
  'store/sqlite',
  'scripts',
  'store/disk',
  'http/draining',
  'properties',
  'cli',
  'access',
  'http/raw-replies',
  'store/outages',
  'consumers',
  'wiring/types',
].map((name) => `test/${name}`);

export function filesBelow(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .sort();
  const rank = (file: string) => LONGEST.findIndex((start) => file.startsWith(start)) + 1 || LONGEST.length + 1;
  return files.sort((a, b) => rank(a) - rank(b));
}
