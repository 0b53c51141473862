/** Exports to import, and the programs that export and import. */
import { writeFileSync } from 'node:fs';
import type { Test } from 'tap';
import { type ProgramOptions, startProgram } from '../../program.ts';

const HASH = 'a'.repeat(64);
const KEY = `{"key":{"id":"k","name":"Ada","hash":"${HASH}","createdAt":"2026-01-01T00:00:00.000Z"}}`;
const STATUSES = ['', ',"status":"available"', ',"status":"pending"', ',"status":"sold"'];

/** An export of so many pets and one key. */
export function writeExport(file: string, count: number): string {
  const pets = Array.from(
    { length: count },
    (_, index) =>
      `{"pet":{"id":${2 * index + 1},"name":"Pet ${index} 🐕","categoryId":${2n ** 62n + BigInt(index)}${STATUSES[index % 4]}}}`,
  );
  const head = `{"export":{"version":1,"lastId":{"pets":${2 * count + 5}}}}`;
  const text = [head, KEY, ...pets, `{"end":{"keys":1,"pets":${count}}}`, ''].join('\n');
  writeFileSync(file, text);
  return text;
}

export async function run(
  t: Test,
  name: 'export' | 'import',
  arg: string,
  DATABASE_URL: string,
  options: ProgramOptions = {},
) {
  const { env, ...others } = options;
  const program = startProgram(t, `src/operate/cli/${name}.ts`, {
    args: [arg],
    env: { DATABASE_URL, ...env },
    isCovered: true,
    ...others,
  });
  return { code: await program.exit, ...program.output };
}
