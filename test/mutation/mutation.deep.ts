import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import createPet from '../../handlers/createPet.ts';
import listPets from '../../handlers/listPets.ts';
import { handlers as ours } from '../../src/generated/handlers.ts';
import type { Handlers } from '../../src/wiring/operations.ts';
import { NODE_ARGS } from '../program.ts';
import { buildJudge } from './judge.ts';
import { type Mutant, mutantsOf, oneOfEach } from './mutants.ts';
import { toReport } from './report.ts';
import { type Row, toRows } from './rows.ts';
import { judgeInProcesses } from './verdicts.ts';

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

async function judge(t: Test, mutants: Mutant[], handlers: Handlers): Promise<Row[]> {
  const { judge, close } = await buildJudge(CONTRACT, handlers);
  t.teardown(close);
  const verdicts = [];
  for (const { build } of mutants) verdicts.push(await judge(build()));
  return toRows(CONTRACT, mutants, verdicts);
}

t.test('each edit is noticed by the first who can', async (t) => {
  const expected: [by: Row['by'], place: string, edit: string][] = [
    ['start', 'paths./pets.get', 'operationId renamed'],
    ['start', 'components.schemas.PetName', 'format made up'],
    ['compile', 'paths./pets.get.parameters.limit', 'parameter renamed'],
    ['compile', 'components.schemas.Pet.properties', 'field added'],
    ['compile', 'components.schemas.ErrorCode.x-extensible-enum', 'value of x-extensible-enum renamed'],
    ['follows', 'paths./pets.get.parameters.limit.schema', 'default raised'],
    ['follows', 'components.schemas.PetName', 'maxLength raised'],
    ['follows', 'components.schemas.PetStatus', 'default added'],
    ['follows', 'paths', 'path renamed'],
    ['follows', 'paths./pets.post.requestBody', 'x-max-bytes lowered'],
    ['follows', 'paths./pets/{petId}.get', 'x-sunset moved'],
    ['tests', 'components.headers.Retry-After.schema', 'minimum raised'],
    ['tests', 'paths./pets.post', 'security emptied'],
    ['tests', 'paths./pets.post.responses', 'response removed (413)'],
    ['tests', 'components.responses.PayloadTooLarge.content.application/json', 'schema removed'],
    ['lint', 'components.examples.PetNotFound', 'example broken'],
    ['diff', 'components.headers.Sunset', 'header made optional'],
  ];
  const mutants = expected.map(([, place, edit]) => mutant(place, edit));
  const rows = await judge(t, mutants, ours);
  for (const [index, { mutant, by, why }] of rows.entries()) {
    t.equal(by, expected[index]?.[0], `${mutant.place}: ${mutant.edit}: ${why}`);
  }
});

t.test('what a handler repeats of the contract survives: a default, a path', async (t) => {
  const handlers = handlersWith({
    listPets: ({ query, ...call }) => listPets({ ...call, query: { ...query, limit: Math.min(query.limit, 20) } }),
    createPet: async (call) => {
      const { body, ...answer } = (await createPet(call)) as { status: 201; body: { id: bigint } };
      return { ...answer, body, headers: { Location: `/v1/pets/${body.id}` } };
    },
  });
  const repeated = mutant('paths./pets.get.parameters.limit.schema', 'default raised');
  const petPath = MUTANTS.find(({ edit }) => edit.includes('/pets/{petId} -> /deep')) as Mutant;
  const [limit, path] = await judge(t, [repeated, petPath], handlers);
  t.match(limit, {
    by: 'nobody',
    why: /^GET \/v1\/pets .* must give the handler query.limit 21, and its replies stay the same$/,
  });
  t.match(path, { by: 'nobody', why: /hands out \/v1\/pets\/1, where nothing is/ });
  t.match(toReport([limit as Row]), /\n +1 {2}nobody .*\n\n.*default raised \(default: 21\)\n {2}GET \/v1\/pets/);
});

t.test('a server that does not keep the contract as it is judges nothing', async (t) => {
  const rex = { id: 1, name: 'Rex', categoryId: 7 };
  const listing = (body: object[]): AnyHandler => {
    return async ({ store }) => {
      await store.check();
      return { status: 200, body };
    };
  };
  const wrong: [handlers: Record<string, AnyHandler>, problem: RegExp][] = [
    [{ listPets: listing([{ ...rex, status: 'lost' }]) }, /status must be equal to one of the allowed values/],
    [{ listPets: () => ({ status: 410, body: { code: 'gone', message: 'No.', status: 410 } }) }, /must be served/],
    [{ listPets: listing([]) }, /listPets 200 header link is documented, and no reply has it/],
    [{ listPets: () => Promise.reject(new Error('a bug')) }, /GET \/v1\/pets : 500 .*must not fail/],
    [{ getPet: () => Promise.reject(new Error('a bug')) }, /hands out \/v1\/pets\/1, which is 500/],
  ];
  for (const [handlers, problem] of wrong) {
    await t.rejects(buildJudge(CONTRACT, handlersWith(handlers)), { message: problem });
  }
});

t.test('an edit that changes nothing at all survives', async (t) => {
  const nothing: Mutant = { place: '', kind: 'nothing', edit: 'nothing', build: () => structuredClone(CONTRACT) };
  const [row] = await judge(t, [nothing], ours);
  t.match(row, { by: 'nobody', why: 'nothing is different anywhere' });
});

t.test('operations with parameters and bodies of every kind are edited and probed', async (t) => {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  const headers = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
  const { InvalidRequest, InvalidBody, Unauthorized, PayloadTooLarge, UnsupportedMediaType, Failure } =
    CONTRACT.components.responses;
  const failures = { 400: InvalidBody, 401: Unauthorized, 415: UnsupportedMediaType, default: Failure };
  const parameter = (name: string, schema: object, rest: object = {}) => ({ name, in: 'query', schema, ...rest });
  const response = (schema: object) => ({ description: 'Done.', headers, ...json(schema) });
  const text = { type: 'string', minLength: 0 };
  const tags = { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['a', 'b'] } };
  const thing = {
    type: 'object',
    required: ['tags'],
    additionalProperties: false,
    properties: {
      tags,
      pairs: { type: 'array', minItems: 2, items: tags },
      anything: { type: 'array' },
      size: { type: 'integer', format: 'int64', exclusiveMinimum: 0, exclusiveMaximum: 10, default: 3 },
    },
  };
  const contract = {
    ...CONTRACT,
    components: {
      ...CONTRACT.components,
      responses: { ...CONTRACT.components.responses, Bare: { description: 'Done.', ...json(text) } },
    },
    paths: {
      '/things/{flag}': {
        get: {
          operationId: 'getThing',
          security: [],
          parameters: [
            parameter('flag', { type: 'boolean' }, { in: 'path', required: true }),
            parameter('ratio', { type: 'number', maximum: 2.5, default: 1.5 }),
            parameter('day', { type: 'string', format: 'date' }, { required: true }),
            parameter('text', text),
          ],
          responses: {
            200: response({ type: 'object', properties: { ratio: { type: 'number' } } }),
            400: InvalidRequest,
            default: Failure,
          },
        },
      },
      '/things': {
        post: {
          operationId: 'createThing',
          requestBody: { 'x-max-bytes': 1000, ...json(thing) },
          responses: { ...failures, 201: response(thing), 413: PayloadTooLarge },
        },
        put: {
          operationId: 'putTags',
          requestBody: { required: true, ...json(tags) },
          responses: { ...failures, 200: response(tags) },
        },
      },
    },
  };
  const answering = (status: number, bodyOf: AnyHandler): AnyHandler => {
    return async (call) => {
      await call.store.check();
      return { status, body: bodyOf(call) };
    };
  };
  const handlers = {
    getThing: answering(200, ({ query }) => ({ ratio: query.ratio })),
    createThing: answering(201, ({ body = { tags: ['a'], pairs: [['a'], ['b']], anything: [], size: 1n } }) => body),
    putTags: answering(200, ({ body }) => body),
  };
  const { close } = await buildJudge(contract, handlers);
  await close();
  const edits = mutantsOf(contract).map(({ edit }) => edit);
  for (const edit of ['x-max-bytes added (x-max-bytes: 1000)', 'body made required (required: true)']) {
    t.ok(edits.includes(edit), edit);
  }
});

t.test('every mutant is another contract', async (t) => {
  const same = MUTANTS.filter(({ build }) => isDeepStrictEqual(build(), CONTRACT));
  t.strictSame(same, []);
});

t.test('the quick run has one edit of each kind', async (t) => {
  const kinds = oneOfEach(MUTANTS).map(({ kind }) => kind);
  t.equal(new Set(kinds).size, kinds.length);
  t.strictSame(new Set(kinds), new Set(MUTANTS.map(({ kind }) => kind)));
});

t.test('the command judges the edits that are asked for, says how far it is, and prints a table', async (t) => {
  const run = (...asked: string[]) =>
    spawnSync(process.execPath, [...NODE_ARGS, SCRIPT, ...asked], { encoding: 'utf8' });
  const { status, stdout, stderr } = run('limit.schema', 'default raised');
  t.equal(status, 0, stderr);
  t.match(stdout, /^paths\.\/pets\.get\.parameters\.limit\.schema {2}default raised \(default: 21\) {2}follows\n/);
  t.match(stdout, /\n1 edits .*\n +1 {2}follows .*/);
  t.match(stderr, /^1 of 1, \d+ s\n$/);
  t.match(run('--quick', 'no edit has this text').stdout, '0 edits of the contract');
});

t.test('a process that fails fails the run', async (t) => {
  const broken = structuredClone(CONTRACT);
  broken.components.securitySchemes.bearerAuth.scheme = 'basic';
  await t.rejects(
    judgeInProcesses({ contract: broken, indexes: [0] }, () => {}),
    /only type http with scheme bearer is supported/,
  );
});
