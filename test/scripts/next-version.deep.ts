/** A team whose service is a copy of the project takes the next version of the engine, by the commands of the paper. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { FILES, YAML } from '../orders/service.ts';
import { copyProject, generate, readCopied } from './project-copy.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAPER =
  readFileSync(join(ROOT, 'handlers/README.md'), 'utf8').split('## Take the next version of the engine')[1] ?? '';
const COMMANDS = /```sh\n([\s\S]*?)```/.exec(PAPER)?.[1] ?? '';

const WHO = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@b.c', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@b.c' };

function run(folder: string, command: string): string {
  const env = { ...process.env, ...WHO, NODE_V8_COVERAGE: '' };
  return execFileSync('sh', ['-e', '-c', command], { cwd: folder, encoding: 'utf8', env, stdio: 'pipe' });
}

function write(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const engine = copyProject(t, readFileSync(join(ROOT, 'openapi/petstore.yaml'), 'utf8'));

t.test('a team takes each next version of the engine, and keeps what it owns', (t) => {
  write(engine, { '.gitignore': 'node_modules\ndist\n', 'package-lock.json': '{}' });
  run(engine, 'git init -q -b main && git add . && git commit -qm "The first version"');
  const team = t.testdir({});
  run(team, `git clone -q -o engine ${engine} . && ln -s ${join(ROOT, 'node_modules')} node_modules`);

  write(team, { 'openapi/petstore.yaml': YAML, ...FILES });
  appendFileSync(join(team, 'src/plugins.ts'), '\n// Ours.\n');
  rmSync(join(team, 'handlers/README.md'));
  t.match(generate(team), { status: 0 });
  run(team, 'git add . && git commit -qm "Orders"');
  run(team, 'npx tsc -p .');

  for (const version of ['1.0.1', '1.0.2']) {
    const [first = ''] = run(engine, 'git ls-files src/engine/http').split('\n');
    rmSync(join(engine, first));
    write(engine, { [`src/engine/http/new-in-${version}.ts`]: 'export {};\n' });
    for (const file of [
      'src/engine/index.ts',
      'src/plugins.ts',
      'src/pets/domain.ts',
      'handlers/createPet.ts',
      'scripts/generate.ts',
    ])
      appendFileSync(join(engine, file), `// ${version}\n`);
    run(engine, `git add . && git commit -qm ${version}`);
    const owned = ['openapi', 'handlers', 'src/orders', 'src/pets', 'src/plugins.ts', 'src/generated'].join(' ');
    const before = run(team, `git ls-tree -r HEAD ${owned}`);
    run(team, COMMANDS.replace("':!src/books'", "':!src/orders' ':!src/books'"));
    t.equal(run(team, `git ls-tree -r HEAD ${owned}`), before);
    t.equal(run(team, 'git status --porcelain'), '');
    for (const folder of ['src/engine', 'src/store', 'src/operate', 'scripts', 'package.json'])
      t.equal(run(team, `git rev-parse HEAD:${folder}`), run(engine, `git rev-parse HEAD:${folder}`), folder);
    t.match(readCopied(team, 'src/engine/index.ts'), `// ${version}`);
  }
  t.end();
});
