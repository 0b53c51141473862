/** The command `contract-first migration`, in a copy of the project. */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { edited } from '../../edited-contract.ts';
import { NODE_ARGS } from '../../program.ts';
import { copyProject, generate, readCopied } from '../project-copy.ts';

const MAIN = fileURLToPath(new URL('../../../src/contract-first/cli/main.ts', import.meta.url));

t.test(
  '`migration` writes files for both databases and asks before it drops a column; `generate` asks to run `migration`',
  (t) => {
    const folder = copyProject(
      t,
      edited(() => {}),
    );
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [...NODE_ARGS, MAIN, 'migration', ...args], {
        cwd: folder,
        encoding: 'utf8',
      });
    t.match(run('again'), { status: 0, stdout: 'The migrations make all that the descriptions need.\n' });
    t.match(run('Not_a_name'), { status: 1, stderr: /a migration is named in small letters/ });
    const file = join(folder, 'src/generated/domain.ts');
    for (const undo of [() => writeFileSync(file, ''), () => rmSync(file)]) {
      undo();
      t.match(run('again'), {
        status: 1,
        stderr: /^src\/generated\/domain\.ts is not up to date: run npx --no -- contract-first generate/,
      });
    }
    generate(folder);
    rmSync(join(folder, 'src/pets/migrations'), { recursive: true });
    t.match(
      generate(folder).stderr,
      /no migration makes the table of pets: npx --no -- contract-first migration first/,
    );
    const [sqlite, postgres] = ['sqlite', 'postgres'].map((kind) => `src/pets/migrations/${kind}/0001-first.sql`);
    t.match(run('first'), { status: 0, stdout: `${sqlite}\n${postgres}\n` });
    t.match(readCopied(folder, sqlite as string), /^CREATE TABLE pets \(\n {2}id INTEGER PRIMARY KEY AUTOINCREMENT/);
    writeFileSync(
      join(folder, sqlite as string),
      `${readCopied(folder, sqlite as string)}ALTER TABLE pets ADD COLUMN color TEXT;`,
    );
    t.match(run('second'), {
      status: 1,
      stderr: /^no field has the column pets.color: --drop pets.color, or --rename/,
    });
    t.match(run('second', '--rename', 'pets.color=shade'), { status: 1, stderr: /pets\.color/ });
    t.match(run('second', '--drop', 'pets.color'), { status: 0, stdout: /0002-second.sql/ });
    t.end();
  },
);
