import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import listPets from '../../handlers/listPets.ts';
import type { Handlers } from '../../src/contract-first/engine/routes/operations.ts';
import { JsonText } from '../../src/contract-first/json/json-text.ts';
import { handlers as ours } from '../../src/generated/handlers.ts';
import { buildJudge, type Row, toRows } from './judge.ts';
import { type Mutant, mutantsOf } from './mutants.ts';

const CONTRACT = parse(readFileSync(new URL('../../openapi/petstore.yaml', import.meta.url), 'utf8'));
const MUTANTS = mutantsOf(CONTRACT);

// biome-ignore lint/suspicious/noExplicitAny: handlers that are wrong, or of operations that the contract does not have
type AnyHandler = (call: any) => any;

/** The project's handlers, some of them replaced by these. */
const handlersWith = (handlers: Record<string, AnyHandler>): Handlers => ({ ...ours, ...handlers });

function mutant(place: string, edit: string): Mutant {
  const found = MUTANTS.find((candidate) => candidate.place === place && candidate.edit.startsWith(edit));
  if (!found) throw new Error(`there is no mutant ${place}: ${edit}`);
  return found;
}

async function judge(mutants: Mutant[], handlers: Handlers): Promise<Row[]> {
  const judge = await buildJudge(CONTRACT, handlers);
  const verdicts = [];
  for (const { build } of mutants) verdicts.push(await judge(build()));
  return toRows(CONTRACT, mutants, verdicts);
}

t.test('for each deliberate edit of the contract, the report names the first check that detects it', async (t) => {
  const expected: [by: Row['by'], place: string, edit: string][] = [
    ['start', 'paths./pets.get', 'operationId changed'],
    ['tests', 'components.schemas.PetName', 'format added: no-such-format'],
    ['diff', 'paths./pets.post.parameters.Idempotency-Key', 'x-idempotency-hours removed'],
    ['start', 'paths./pets.post.parameters.Idempotency-Key', 'name changed'],
    ['compile', 'paths./pets.get.parameters.limit', 'name changed'],
    ['compile', 'components.schemas.Pet', 'changed: properties extra'],
    [
      'compile',
      'components.schemas.ErrorCode',
      'x-extensible-enum changed: invalid_request removed, invalid_request_x',
    ],
    ['follows', 'paths./pets.get.parameters.limit.schema', 'default raised'],
    ['follows', 'paths./pets.get.parameters.after.schema', 'maxLength raised'],
    ['follows', 'components.schemas.PetName', 'maxLength raised'],
    ['follows', 'components.schemas.PetStatus', 'default added'],
    ['follows', 'contract', 'paths changed: /pets removed, /pets-x'],
    ['follows', 'paths./pets.post.requestBody', 'x-max-bytes lowered'],
    ['follows', 'paths./pets/{petId}.get', 'x-sunset changed: 2030-12-06'],
    ['tests', 'paths./pets.post', 'security changed: {"bearerAuth":["pets:write"]} removed'],
    ['lint', 'components.examples.PetNotFound', 'value changed'],
    ['lint', 'paths./pets.get.responses.200', 'headers changed: X-Request-Id removed'],
    ['diff', 'components.headers.Sunset', 'required changed'],
    ['diff', 'paths./pets.post.parameters.Idempotency-Key', 'x-idempotency-hours lowered'],
  ];
  const mutants = expected.map(([, place, edit]) => mutant(place, edit));
  const rows = await judge(mutants, ours);
  for (const [index, { mutant, by, why }] of rows.entries()) {
    t.equal(by, expected[index]?.[0], `${mutant.place}: ${mutant.edit}`, { why: JSON.stringify(why) });
  }
});

t.test('if an edit declares a filter or header that the server ignores, the report calls it broken', async (t) => {
  const judge = await buildJudge(CONTRACT, ours, () => []);
  for (const [name, place] of [
    ['q', 'query.q'],
    ['X-Names', 'header.X-Names'],
  ]) {
    const ignored = MUTANTS.find(({ place, edit }) => place === 'paths./pets.get' && edit.includes(`"name":"${name}"`));
    t.match(await judge(ignored?.build()), {
      by: 'breaks',
      why: `listPets ${place} is taken, and every reply is the same`,
    });
  }
});

t.test('no edits are judged if the server already breaks the unedited contract', async (t) => {
  const rex = { id: 1, name: 'Rex', categoryId: 7 };
  const listing = (body: unknown): AnyHandler => {
    return async ({ pets }) => {
      await pets.get(1n);
      return { status: 200, body };
    };
  };
  const wrong: [handlers: Record<string, AnyHandler>, problem: RegExp][] = [
    [
      { listPets: listing(JsonText.of(JSON.stringify([{ ...rex, status: 'lost' }]))) },
      /GET \/v1\/pets.* 500 .*must not fail/,
    ],
    [{ listPets: () => ({ status: 410, body: { code: 'gone', message: 'No.', status: 410 } }) }, /must be 2/],
    [{ listPets: listing([]) }, /listPets query.limit is taken, and every reply is the same without it/],
    [
      { listPets: async (call) => ({ ...(await listPets(call)), next: undefined }) },
      /listPets 200 header link is documented, and no reply has it/,
    ],
    [{ listPets: () => Promise.reject(new Error('a bug')) }, /GET \/v1\/pets.* 500 .*must not fail/],
    [{ getPet: () => Promise.reject(new Error('a bug')) }, /hands out \/v1\/pets\/1, which is 500/],
  ];
  for (const [handlers, problem] of wrong) {
    await t.rejects(buildJudge(CONTRACT, handlersWith(handlers)), { message: problem });
  }
});
