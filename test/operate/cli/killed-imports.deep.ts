import { writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { domain } from '../../../src/generated/domain.ts';
import { parseDatabaseUrl } from '../../../src/store/database-url.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { startPostgres } from '../../postgres.ts';
import { startProgram } from '../../program.ts';

/** How many imports are killed, on each store. */
const ROUNDS = Number(process.env.ROUNDS ?? 1);
const COUNT = 30_000;
/** When an import is killed at the latest, in milliseconds after its start. */
const LATEST = 1500;

function writeExport(file: string): void {
  const pets = Array.from({ length: COUNT }, (_, index) => `{"pet":{"id":${index + 1},"name":"Pet","categoryId":7}}`);
  const lines = [`{"export":{"version":1,"lastId":{"pets":${COUNT}}}}`, ...pets, `{"end":{"keys":0,"pets":${COUNT}}}`];
  writeFileSync(file, lines.join('\n'));
}

async function countPets(url: string): Promise<number> {
  const database = parseDatabaseUrl(url) as NonNullable<ReturnType<typeof parseDatabaseUrl>>;
  const store = await openStore(database, domain, { createTimeout: 60_000, maxCreates: 10_000 });
  let count = 0;
  for await (const { records } of store.readContents()) count += (records ?? []).length;
  await store.close();
  return count;
}

/** `newUrl` is called for each round. */
async function killImports(t: Test, newUrl: () => string): Promise<void> {
  const file = `${t.testdir()}/pets`;
  writeExport(file);
  const start = (DATABASE_URL: string) =>
    startProgram(t, 'src/operate/cli/import.ts', { args: [file], env: { DATABASE_URL } });

  const left: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const url = newUrl();
    const { child, exit } = start(url);
    await wait(LATEST * Math.random());
    child.kill('SIGKILL');
    await exit;
    left.push(await countPets(url));
    const again = start(url);
    const code = await again.exit;
    t.ok(code === 0 || /has pets already/.test(again.output.stderr), again.output.stderr);
    t.equal(await countPets(url), COUNT);
  }
  t.strictSame(
    left.filter((count) => count !== 0 && count !== COUNT),
    [],
  );
  t.comment(`${ROUNDS} kills: ${left.filter((count) => count === 0).length} with nothing imported, the rest with all`);
}

t.test(
  'SQLite: an import that is killed at any time imports nothing or all, and the next one completes it',
  async (t) => {
    const folder = t.testdir({ data: {} });
    let count = 0;
    await killImports(t, () => `sqlite:${folder}/data/${count++}.db`);
  },
);

t.test(
  'PostgreSQL: an import that is killed at any time imports nothing or all, and the next one completes it',
  async (t) => {
    const server = await startPostgres(t);
    await killImports(t, () => server.newUrl());
  },
);
