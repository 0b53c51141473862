import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { type Edit, edited } from '../edited-contract.ts';
import { NODE_ARGS } from '../program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = ['handlers', 'openapi', 'scripts', 'src', 'package.json', 'tsconfig.json'];

/** A copy of the project with this contract. */
function copyProject(t: Test, yaml: string): string {
  const folder = t.testdir({});
  for (const name of PARTS) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'openapi/petstore.yaml'), yaml);
  return folder;
}

/** What `npm run generate` does there; of a copy, no coverage counts. */
const generate = (folder: string) =>
  spawnSync(process.execPath, [...NODE_ARGS, 'scripts/generate.ts'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE_V8_COVERAGE: '' },
  });

const contracts: [sentence: string, problem: string, edit: Edit][] = [
  [
    'a schema that is nothing but itself',
    'operation createPet: body.nickname: its schema is nothing but itself',
    ({ schemas, NewPet }) => {
      schemas.Nickname = { allOf: [{ $ref: '#/components/schemas/Nickname' }] };
      NewPet.properties.nickname = { $ref: '#/components/schemas/Nickname' };
    },
  ],
  [
    'an unknown format',
    'operation createPet: request.body.nickname: unknown format "nick" ignored',
    ({ NewPet }) => (NewPet.properties.nickname = { type: 'string', format: 'nick' }),
  ],
  [
    'a default that cannot be filled in',
    'operation createPet: request.body: strict mode: default is ignored for: name',
    ({ NewPet }) => (NewPet.anyOf = [{ properties: { name: { default: 'Rex' } } }]),
  ],
];

for (const [sentence, problem, edit] of contracts) {
  t.test(`${sentence} is refused in one line, and nothing is written`, async (t) => {
    const folder = copyProject(t, edited(edit));
    const generated = readFileSync(join(folder, 'src/generated/contract.ts'), 'utf8');
    const { status, stderr } = generate(folder);
    t.equal(status, 1);
    t.equal(stderr, `The contract cannot be served:\n  - ${problem}\n`);
    t.equal(readFileSync(join(folder, 'src/generated/contract.ts'), 'utf8'), generated, 'nothing is written');
  });
}

t.test('a 64-bit integer that may be null is a bigint or null in the types', async (t) => {
  const owner = { type: ['integer', 'null'], format: 'int64' };
  const folder = copyProject(
    t,
    edited(({ NewPet }) => Object.assign(NewPet.properties, { owner })),
  );
  t.equal(generate(folder).status, 0);
  t.match(readFileSync(join(folder, 'src/generated/contract.ts'), 'utf8'), /^ *owner\?: bigint \| null;$/m);
});

t.test('a handler is imported from the file of its operationId, in kebab-case too', async (t) => {
  const yaml = edited(({ listPets, getPet }) => {
    listPets.operationId = 'list-pets';
    getPet['x-successor'] = 'list-pets';
  });
  const folder = copyProject(t, yaml);
  const { status, stderr } = generate(folder);
  t.equal(status, 0, stderr);
  t.match(stderr, /^operation list-pets has no handlers\/list-pets\.ts$/m);
  const map = readFileSync(join(folder, 'src/generated/handlers.ts'), 'utf8');
  t.match(map, "import list$petsHandler from '../../handlers/list-pets.ts';");
  t.match(map, "  'list-pets': list$petsHandler,");
});
