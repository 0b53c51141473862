import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Edit, edited } from '../../edited-contract.ts';
import { copyProject, generate, readCopied } from '../project-copy.ts';

const contracts: [sentence: string, problem: string, edit: Edit][] = [
  [
    'a 64-bit integer with an enum',
    'operation createPet: body.nickname: enum is not supported for int64',
    ({ NewPet }) => (NewPet.properties.nickname = { type: 'integer', format: 'int64', enum: [1] }),
  ],
  [
    'a field whose schema allows no value',
    'operation createPet: its body.name: allows nothing, not even Rex: it must have at most 2 characters',
    ({ NewPet }) => (NewPet.properties.name = { type: 'string', const: 'Rex', maxLength: 2 }),
  ],
];

for (const [sentence, problem, edit] of contracts) {
  t.test(`\`generate\` prints one line for ${sentence}, and writes nothing`, async (t) => {
    const folder = copyProject(t, edited(edit));
    const generated = readCopied(folder, 'src/generated/contract.ts');
    const { status, stderr } = generate(folder);
    t.equal(status, 1);
    t.equal(stderr.replace(/:\d+:\d+: /, ': '), `openapi/petstore.yaml: ${problem}\n`);
    t.equal(readCopied(folder, 'src/generated/contract.ts'), generated, 'generate does not change the generated types');
  });
}

t.test('`generate` gives a nullable 64-bit integer the TypeScript type bigint | null', async (t) => {
  const owner = { type: ['integer', 'null'], format: 'int64' };
  const folder = copyProject(
    t,
    edited(({ NewPet, Pet }) => {
      for (const { properties } of [NewPet, Pet]) properties.owner = owner;
    }),
  );
  t.equal(generate(folder).status, 0);
  t.match(readCopied(folder, 'src/generated/contract.ts'), /^ *owner\?: bigint \| null;$/m);
});

t.test('`generate` warns about a request body that may not fit its record, and fails for one that does not', (t) => {
  const withPattern = (pattern: string, maxLength: number): Edit => {
    return ({ Pet, PetName }) => (Pet.properties.name = { ...PetName, pattern, maxLength });
  };
  const unproven = generate(copyProject(t, edited(withPattern('^[^\\x00]{0,255}$', 255))));
  t.equal(unproven.status, 0, unproven.stderr);
  t.match(
    unproven.stderr,
    /^warning: openapi\/petstore\.yaml:1:\d+: operation createPet: its body\.name: cannot be proven to fit schema Pet, which stores it$/m,
  );
  const shorter = generate(
    copyProject(
      t,
      edited(({ Pet, PetName }) => (Pet.properties.name = { ...PetName, maxLength: 9 })),
    ),
  );
  t.equal(shorter.status, 1);
  t.match(
    shorter.stderr,
    /^openapi\/petstore\.yaml:1:\d+: operation createPet: its body\.name: "x{10}" is let in, and not stored by schema Pet: /,
  );
  t.end();
});

t.test('`generate` prints one line for a schema that refers only to itself, and writes nothing', async (t) => {
  const contract = edited(({ schemas, NewPet }) => {
    schemas.Nickname = { allOf: [{ $ref: '#/components/schemas/Nickname' }] };
    NewPet.properties.nickname = { $ref: '#/components/schemas/Nickname' };
  });
  const folder = copyProject(t, contract);
  const generated = readCopied(folder, 'src/generated/contract.ts');
  const { status, stderr } = generate(folder);
  t.equal(status, 1);
  t.match(
    stderr,
    /^openapi\/petstore\.yaml:1:\d+: operation createPet: body\.nickname: its schema is nothing but itself\n$/,
  );
  t.equal(readCopied(folder, 'src/generated/contract.ts'), generated, 'generate does not change the generated types');
});

t.test('`generate` fails for a regular expression that could block the server, and writes nothing', async (t) => {
  const folder = copyProject(
    t,
    edited(({ NewPet }) => (NewPet.properties.nickname = { type: 'string', pattern: '^(a+)+$', writeOnly: true })),
  );
  const { status, stderr } = generate(folder, '--check');
  t.equal(status, 1);
  t.match(stderr, /^openapi\/petstore\.yaml:1:\d+: operation createPet: the pattern \^\(a\+\)\+\$ takes so long .*\n$/);
});

t.test(
  'the code of `generate` imports the handler of the operation list-pets from handlers/list-pets.ts',
  async (t) => {
    const yaml = edited(({ listPets, getPet }) => {
      listPets.operationId = 'list-pets';
      getPet['x-successor'] = 'list-pets';
    });
    const folder = copyProject(t, yaml);
    const { status, stderr } = generate(folder);
    t.equal(status, 1, stderr);
    t.match(stderr, /^operation list-pets has no handlers\/list-pets\.ts$/m);
    const map = readCopied(folder, 'src/generated/handlers.ts');
    t.match(map, "import list$petsHandler from '../../handlers/list-pets.ts';");
    t.match(map, "  'list-pets': list$petsHandler,");
  },
);

t.test("`generate` finds a collection's domain.ts after its folder is renamed", async (t) => {
  const folder = copyProject(
    t,
    edited(() => {}),
  );
  renameSync(join(folder, 'src/pets'), join(folder, 'src/animals'));
  const stale = generate(folder, '--check');
  t.equal(stale.status, 1);
  t.match(stale.stderr, /^src\/generated\/domain\.ts is stale: run `npm run generate`/);
  const { status, stderr } = generate(folder);
  t.equal(status, 0, stderr);
  t.match(readCopied(folder, 'src/generated/domain.ts'), "import { pets } from '../animals/domain.ts';");
});

t.test('`generate` fails for migrations with which the server would not start, such as a missing number', async (t) => {
  const folder = copyProject(
    t,
    edited(() => {}),
  );
  writeFileSync(join(folder, 'src/pets/migrations/sqlite/0003-more.sql'), 'SELECT 1');
  const gap = generate(folder);
  t.equal(gap.status, 1);
  t.equal(
    gap.stderr,
    'A start on sqlite would be refused: pets/0003-more.sql must begin with 0002-, the next number\n',
  );
  renameSync(
    join(folder, 'src/pets/migrations/sqlite/0003-more.sql'),
    join(folder, 'src/pets/migrations/sqlite/0002-more.sql'),
  );
  writeFileSync(join(folder, 'src/pets/migrations/postgres/0002-more.sql'), 'SELECT 1; COMMIT; BEGIN');
  const control = generate(folder, '--check');
  t.equal(control.status, 1);
  t.equal(
    control.stderr,
    'A start on postgres would be refused: pets/0002-more.sql has COMMIT, and all migrations run in one transaction\n',
  );
});

t.test('`generate` warns about a filter or order without an index, and fails if its column is missing', async (t) => {
  const folder = copyProject(
    t,
    edited(() => {}),
  );
  const file = join(folder, 'src/pets/domain.ts');
  const description = readCopied(folder, 'src/pets/domain.ts');
  const lists = (text: string) => writeFileSync(file, description.replace(/^ {2}lists: .*$/m, `  lists: ${text},`));
  lists("{ equal: ['status', 'categoryId'], orders: { byCategory: '-categoryId' } }");
  const reported = (list: string, index: string) =>
    `warning: lists of pets ${list} read the whole table, for lack of an index: CREATE INDEX ${index}\n`;
  const { status, stderr } = generate(folder);
  t.equal(status, 0);
  const by = 'in the order byCategory';
  const filtered = reported(`filtered by status ${by}`, 'pets_by_status_category_id ON pets (status, category_id, id)');
  const ordered = reported(`filtered by categoryId ${by}`, 'pets_by_category_id ON pets (category_id, id)');
  t.match(stderr, filtered + ordered);
  for (const text of [
    "{ equal: ['color'] }",
    "{ range: ['color'] }",
    "{ orders: { byColor: '-color' } }",
    "{}, unique: [{ fields: ['color'], code: 'pet_not_found' }]",
  ]) {
    lists(text);
    t.equal(
      generate(folder).stderr,
      'A start on sqlite would be refused: pets has no column for color, which its lists or unique fields name\n',
    );
  }
});

t.test('if no collection declares an error code of the contract, `generate` prints the line to write', async (t) => {
  const folder = copyProject(
    t,
    edited(() => {}),
  );
  const file = join(folder, 'src/pets/domain.ts');
  writeFileSync(file, readCopied(folder, 'src/pets/domain.ts').replace(/^ {2}errors: .*\n/m, ''));
  const { status, stderr } = generate(folder);
  t.equal(status, 1);
  t.match(
    stderr,
    /^openapi\/petstore\.yaml:1:\d+: schema Error: field code: pet_not_found has no status: give the description of a collection errors: \{ pet_not_found: \{ status: 404 \} \}\n$/,
  );
});
