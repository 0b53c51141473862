import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import createPet from '../../handlers/createPet.ts';
import listPets from '../../handlers/listPets.ts';
import type { Handlers } from '../../src/contract-first/engine/routes/operations.ts';
import { JsonText } from '../../src/contract-first/json/json-text.ts';
import { handlers as ours } from '../../src/generated/handlers.ts';
import type { Json } from '../any-json.ts';
import { NODE_ARGS } from '../program.ts';
import { NEW_HANDLERS, withNewOperations } from '../properties/new-operations.ts';
import { buildJudge, type Verdict } from './judge.ts';
import { type Mutant, mutantsOf, oneOfEach } from './mutants.ts';
import { isUnnoticed, type Row, toReport, toRows } from './rows.ts';

const SCRIPT = fileURLToPath(new URL('./mutate.ts', import.meta.url));
const CONTRACT = parse(readFileSync(new URL('../../openapi/petstore.yaml', import.meta.url), 'utf8'));
const MUTANTS = mutantsOf(CONTRACT);

// biome-ignore lint/suspicious/noExplicitAny: handlers that are wrong, or of operations that the contract does not have
type AnyHandler = (call: any) => any;

/** The project's handlers, with these in place of theirs. */
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

t.test('each edit is noticed by the first check that can', async (t) => {
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
    ['diff', 'components.headers.Sunset', 'required changed'],
    ['diff', 'paths./pets.post.parameters.Idempotency-Key', 'x-idempotency-hours lowered'],
  ];
  const mutants = expected.map(([, place, edit]) => mutant(place, edit));
  const rows = await judge(mutants, ours);
  for (const [index, { mutant, by, why }] of rows.entries()) {
    t.equal(by, expected[index]?.[0], `${mutant.place}: ${mutant.edit}`, { why: JSON.stringify(why) });
  }
});

t.test(
  'what the contract says of replies, filters, null and extensions is followed, or noticed before a client sees it',
  async (t) => {
    const [list, get, create] = ['paths./pets.get', 'paths./pets/{petId}.get', 'paths./pets.post'];
    const [listed, got, created] = [
      [list, 200],
      [get, 200],
      [create, 201],
    ].map(([operation, status]) => `${operation}.responses.${status}.content.application/json`) as [
      string,
      string,
      string,
    ];
    const places: [place: string, edit: RegExp][] = [
      // Text from the store is what each reply promises.
      ['components.schemas.Pets', /^maxItems added/],
      ['components.schemas.Pets', /^minItems added/],
      [listed, /items \{"type":"object","additional/],
      [listed, /items \{"allOf"/],
      [got, /additionalProperties false/],
      [got, /maxProperties/],
      [got, /"categoryId":\{"maximum/],
      [created, /"name":\{"maxLength/],
      [created, /"id":\{"minimum/],
      // What the server says by itself.
      ['components.headers.X-Request-Id.schema', /^maxLength added: 2/],
      ['components.headers.X-Request-Id.schema', /^pattern added/],
      ['components.headers.X-Request-Id.schema', /^format added: date/],
      ['components.headers.Retry-After.schema', /^minimum raised/],
      [`${create}.responses.201.headers.Location.schema`, /^maxLength added: 2/],
      [`${list}.responses.200.headers.Link.schema`, /^maxLength added: 2/],
      ['components.schemas.Error.properties.message', /^maxLength added: 60/],
      [create, /^responses changed: 401 removed/],
      [create, /^responses changed: 403 removed/],
      [create, /^responses changed: 413 removed/],
      [create, /^responses changed: default removed/],
      [`${list}.responses.200`, /^headers changed: X-Request-Id removed/],
      ['components.responses.PayloadTooLarge.content.application/json', /^schema removed/],
      // What is taken is not ignored.
      [list, /^parameters changed: .*"name":"categoryId"/],
      [list, /^parameters changed: .*"name":"q"/],
      // Null, and what a table allows.
      ['components.schemas.PetName', /^type changed: .*null/],
      ['components.schemas.NewPet', /status \$ref removed, anyOf/],
      ['components.schemas.PetName', /^pattern removed/],
      ['components.schemas.PetStatus', /^enum removed/],
      // Limits and extensions.
      [`${list}.parameters.limit.schema`, /^type changed: number/],
      [`${list}.parameters.limit.schema`, /^minimum lowered: -5/],
      [`${create}.requestBody`, /^x-max-bytes lowered: 0/],
      [`${create}.requestBody`, /^x-max-bytes changed: 100/],
      [`${create}.requestBody`, /x-maxbytesx/],
      ['contract', /^jsonSchemaDialect/],
    ];
    const mutants = places.map(([place, edit]) => {
      const found = MUTANTS.find((candidate) => candidate.place === place && edit.test(candidate.edit));
      if (!found) throw new Error(`there is no mutant ${place}: ${edit}`);
      return found;
    });
    for (const row of await judge(mutants, ours)) {
      t.notOk(isUnnoticed(row), `${row.mutant.place}: ${row.mutant.edit}`, { why: JSON.stringify(row.why) });
    }
  },
);

t.test('a filter, or a header, that is taken and ignored breaks the contract', async (t) => {
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

t.test('what a handler repeats of the contract is noticed by nobody', async (t) => {
  const handlers = handlersWith({
    createPet: async (call) => {
      const answer = await createPet(call);
      if (answer.status !== 201) return answer;
      return { ...answer, headers: { ...answer.headers, Location: `/v1/pets/${(answer.body as { id: bigint }).id}` } };
    },
  });
  const [row] = await judge([mutant('contract', 'paths changed: /pets/{petId} removed, /deep')], handlers);
  t.match(row, { by: 'nobody', why: /hands out \/v1\/pets\/1, where nothing is/ });
  t.match(toReport([row as Row]), /\n +1 {2}nobody .*\n\n.*paths changed.*\n {2}POST \/v1\/pets/);
});

t.test('a server that does not keep the contract as it is judges nothing', async (t) => {
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
      { listPets: async (call) => ({ ...(await listPets(call)), headers: undefined }) },
      /listPets 200 header link is documented, and no reply has it/,
    ],
    [{ listPets: () => Promise.reject(new Error('a bug')) }, /GET \/v1\/pets.* 500 .*must not fail/],
    [{ getPet: () => Promise.reject(new Error('a bug')) }, /hands out \/v1\/pets\/1, which is 500/],
  ];
  for (const [handlers, problem] of wrong) {
    await t.rejects(buildJudge(CONTRACT, handlersWith(handlers)), { message: problem });
  }
});

t.test('an edit that changes nothing at all is noticed by nobody', async (t) => {
  const nothing: Mutant = { place: '', kind: 'nothing', edit: 'nothing', build: () => structuredClone(CONTRACT) };
  const [row] = await judge([nothing], ours);
  t.match(row, { by: 'nobody', why: 'nothing is different anywhere' });
});

t.test('operations with parameters and bodies of every kind are edited and probed', async (t) => {
  const contract = withNewOperations(CONTRACT);
  for (const [path, method] of [
    ['/shelves/{code}', 'put'],
    ['/shelves/{code}', 'patch'],
    ['/greetings', 'post'],
    ['/boxes', 'post'],
    ['/parcels', 'post'],
    ['/pictures', 'put'],
  ] as const) {
    contract.paths[path][method].responses['415'] = CONTRACT.components.responses.UnsupportedMediaType;
  }
  contract.paths['/pictures'].put.responses['413'] = CONTRACT.components.responses.PayloadTooLarge;
  // The probes' keys have a limit; who needs no key has none.
  const { RateLimit, 'RateLimit-Policy': policy } = CONTRACT.components.headers;
  const operations = Object.values(contract.paths).flatMap((item) => Object.values(item as object));
  for (const { operationId, security, responses } of operations) {
    if (!(operationId in NEW_HANDLERS)) continue;
    const [served] = Object.keys(responses) as [string];
    if (!security) {
      Object.assign(responses[served].headers, { RateLimit, 'RateLimit-Policy': policy });
      responses['429'] = CONTRACT.components.responses.RateLimited;
      continue;
    }
    for (const [status, { $ref, ...own }] of Object.entries<Json>(responses)) {
      const { headers, ...response } = $ref ? CONTRACT.components.responses[$ref.split('/').at(-1)] : own;
      const { RateLimit: _left, 'RateLimit-Policy': _policy, ...others } = headers;
      responses[status] = { ...response, headers: others };
    }
  }
  const kinds = new Set(mutantsOf(contract).map(({ kind }) => kind.replace(/ \d+$/, '')));
  for (const kind of ['body x-max-bytes added', 'body required added', 'schema exclusiveMaximum added']) {
    t.ok(kinds.has(kind), kind);
  }
  const answering = (answer: AnyHandler): AnyHandler => {
    return async (call) => {
      await call.pets.get(1n);
      return answer(call);
    };
  };
  const handles = Object.entries(NEW_HANDLERS).map(([id, handle]) => [id, answering(handle)]);
  const handlers = handlersWith(Object.fromEntries(handles));
  const judge = await buildJudge(contract, handlers, () => []);
  const expected: [by: Verdict['by'], place: string, edit: string][] = [
    ['tests', 'Box.properties.id', 'readOnly removed'],
    ['tests', 'Box.properties.secret', 'writeOnly removed'],
    ['tests', 'Box', 'changed: properties mail readOnly true'],
    ['tests', 'Box', 'changed: properties mail writeOnly true'],
    ['follows', 'Toy', 'discriminator removed'],
    ['start', 'Toy', 'discriminator changed: propertyName kindX'],
    ['follows', 'Toy', 'discriminator changed: mapping kit removed'],
    ['follows', 'Toy', 'discriminator changed: mapping kit removed, kitX'],
  ];
  for (const [by, place, edit] of expected) {
    const found = mutantsOf(contract).find(
      (mutant) => mutant.place === `components.schemas.${place}` && mutant.edit.startsWith(edit),
    );
    const verdict = found && (await judge(found.build()));
    // By a reply, or by a promise that no reply keeps.
    const seen = verdict?.by === 'breaks' ? 'tests' : verdict?.by;
    t.equal(seen, by, `${place}: ${edit}`, { why: verdict?.why });
  }
});

t.test('every mutant is another contract', async (t) => {
  t.strictSame(
    MUTANTS.filter(({ build }) => isDeepStrictEqual(build(), CONTRACT)),
    [],
  );
});

t.test('the quick run has one edit of each kind', async (t) => {
  const kinds = oneOfEach(MUTANTS).map(({ kind }) => kind);
  t.equal(new Set(kinds).size, kinds.length);
  t.strictSame(new Set(kinds), new Set(MUTANTS.map(({ kind }) => kind)));
});

t.test('the command judges the edits that are asked for, says how far it is, and prints a table', async (t) => {
  const run = (args: string[]) => spawnSync(process.execPath, [...NODE_ARGS, SCRIPT, ...args], { encoding: 'utf8' });
  const { status, stdout, stderr } = run(['limit.schema', 'default raised']);
  t.equal(status, 0, stderr);
  t.match(stdout, /^follows paths\.\/pets\.get\.parameters\.limit\.schema {2}default raised: 21\n/);
  t.match(stdout, /\n1 edits .*\n +1 {2}follows .*/);
  t.match(stderr, /^1 of 1\n$/);
  t.match(run(['--quick', 'no edit has this text']).stdout, '0 edits of the contract');
  t.match(run(['--every', '100000', 'openapi']).stdout, '0 edits of the contract');
  const { components } = structuredClone(CONTRACT);
  components.securitySchemes.bearerAuth.scheme = 'digest';
  const folder = t.testdir({ 'broken.yaml': JSON.stringify({ ...CONTRACT, components }) });
  const broken = run(['--contract', `${folder}/broken.yaml`, 'limit.schema', 'default raised']);
  t.match(broken, { status: 1, stderr: /only bearer tokens, basic authentication, and API keys are supported/ });
});
