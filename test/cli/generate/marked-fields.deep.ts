/**
 * The schema of the records may mark fields that the store sets as readOnly, and fields that no reply shows as
 * writeOnly.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { edited } from '../../edited-contract.ts';
import { NODE_ARGS } from '../../program.ts';
import { copyProject, generate, readCopied } from '../project-copy.ts';

/** One schema for records, requests and replies, as in most contracts. */
const YAML = edited(({ schemas, Pet, NewPet, body, createPet }) => {
  Object.assign(Pet.properties.id, { readOnly: true });
  Object.assign(Pet.properties, {
    addedAt: { description: 'When it was added.', type: 'string', format: 'date-time', maxLength: 30, readOnly: true },
    chip: { ...NewPet.properties.name, description: 'The number of its chip.', writeOnly: true },
  });
  Pet.required.push('addedAt', 'chip');
  Pet.additionalProperties = false;
  delete schemas.NewPet;
  body.content['application/json'] = { schema: { $ref: '#/components/schemas/Pet' } };
  const [created] = [createPet.responses['201'].content['application/json']];
  delete created.examples;
});

const COLUMNS = `    addedAt: { column: 'added_at', type: 'time', set: 'created' },
    chip: { column: 'chip', type: 'text' },
  },
  lists`;

const WITHOUT_CHIP = `function withoutChip<Record extends { chip: string }>({ chip: _, ...pet }: Record): Omit<Record, 'chip'> {
  return pet;
}
`;
const HANDLERS: Record<string, (handler: string) => string> = {
  // If these handlers answered with the record itself, the reply would contain the chip. So they write their bodies.
  createPet: () => `import { handle } from 'contract-first';

export default handle('createPet', async ({ body, idempotency, pets, urlOf }) => {
  const pet = await pets.create(body, { idempotency });
  const Location = urlOf('getPet', { petId: pet.id });
  const headers = idempotency?.isReplayed ? { Location, 'Idempotency-Replayed': 'true' } : { Location };
  return { status: 201, body: withoutChip(pet), headers };
});
`,
  getPet: () => `import { handle, refuse } from 'contract-first';

export default handle('getPet', async ({ params, pets }) => {
  const pet = await pets.get(params.petId);
  return pet ? { status: 200, body: withoutChip(pet.read()) } : refuse('pet_not_found', 'There is no such pet.');
});
`,
  listPets: (handler) =>
    handler.replace(
      'return { status: 200, ...page };',
      'return { status: 200, body: page.body.read().map(withoutChip), next: page.next };',
    ),
};

/** Lines that must be compile errors. `@ts-expect-error` is an error itself if the next line compiles. */
const WRONG = `import { handle } from 'contract-first';
import type { CollectionOf } from 'contract-first/store';
import type { pets as description } from './domain.ts';

// @ts-expect-error: a write-only field is in no reply
export default handle('getPet', async ({ pets }) => ({ status: 200, body: (await pets.get(1n)) ?? raise() }));

export const wrong = async (pets: CollectionOf<typeof description>): Promise<void> => {
  const pet = { name: 'Rex', categoryId: 7n };
  // @ts-expect-error: it is in each record
  await pets.create(pet);
  // @ts-expect-error: a read-only field that the store sets is given by nobody
  await pets.create({ ...pet, chip: '9', addedAt: '2026-01-01T00:00:00Z' });
  await pets.update(1n, { chip: '8' });
  const { id, addedAt }: { id: bigint; addedAt: string } = (await pets.get(1n))?.read() ?? raise();
  await pets.delete(addedAt === '' ? 1n : id);
};

function raise(): never {
  throw new Error();
}
`;

const TEST = `import t from 'tap';
import { openTestServer } from 'contract-first/test';
import { service } from '../../src/generated/service.ts';

t.test('a pet', async (t) => {
  const { client } = await openTestServer(t, service);
  const { body: pet } = await client.createPet({ body: { name: 'Rex', categoryId: 7n, chip: '9' } });
  t.match(pet, { id: 1n, name: 'Rex', categoryId: 7n, addedAt: /Z$/ });
  t.notOk('chip' in pet);
  t.strictSame((await client.getPet({ params: { petId: 1n } })).body, pet);
  t.strictSame((await client.listPets({ query: { limit: 5 } })).body, [pet]);
  for (const more of [{ id: 2n }, { addedAt: '2026-01-01T00:00:00Z' }]) {
    t.match(await client.createPet({ body: { name: 'Rex', categoryId: 7n, chip: '9', ...more } }), { status: 400 });
  }
});
`;

function writeProject(t: Test): string {
  const folder = copyProject(t, YAML);
  rmSync(join(folder, 'openapi/released'), { recursive: true });
  const domain = 'src/pets/domain.ts';
  const files: Record<string, string> = {
    [domain]: readCopied(folder, domain).replace('  },\n  lists', COLUMNS),
    'src/pets/wrong.ts': WRONG,
    'test/operations/marked.test.ts': TEST,
  };
  for (const [database, type] of Object.entries({ sqlite: 'TEXT', postgres: 'timestamptz' })) {
    const file = `src/pets/migrations/${database}/0001-pets.sql`;
    const more = `status TEXT,\n  added_at ${type} NOT NULL,\n  chip TEXT NOT NULL`;
    files[file] = readCopied(folder, file).replace(/status text/i, more);
  }
  for (const [id, toMarked] of Object.entries(HANDLERS)) {
    const file = `handlers/${id}.ts`;
    files[file] = toMarked(readCopied(folder, file)) + WITHOUT_CHIP;
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

t.test('`generate` makes a service with read-only and write-only fields that compiles and works', async (t) => {
  const folder = writeProject(t);
  t.match(generate(folder), { status: 0 });
  const env = { ...process.env, NODE_V8_COVERAGE: '', TAP_CHILD_ID: '' };
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env });
    t.equal(status, 0, { stdout, stderr });
  };
  writeFileSync(
    join(folder, 'tsconfig.own.json'),
    JSON.stringify({
      extends: './tsconfig.json',
      include: ['handlers', 'src'],
      compilerOptions: { noEmit: true, incremental: false },
    }),
  );
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.own.json');
  run(...NODE_ARGS, 'test/operations/marked.test.ts');
});
