/** Contracts with their own form of errors, which a team writes in `src/errors.ts`. */
import t, { type Test } from 'tap';
import { findUnknownCodes } from '../../../src/contract-first/contract/checks/server-errors.ts';
import {
  buildCatalogue,
  type ErrorCode,
  GENERAL,
  notImplemented,
  refuse,
} from '../../../src/contract-first/engine/errors/catalogue.ts';
import { errorTypeOf, type OwnError, type ToErrorBody } from '../../../src/contract-first/engine/errors/error-body.ts';
import type { AnyHandler } from '../../../src/contract-first/engine/routes/handler.ts';
import { makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { StoreUnavailable } from '../../../src/contract-first/store/store.ts';
import { domain } from '../../../src/generated/domain.ts';
import { load, problemsOf } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { loadConfig } from '../../config.ts';
import type { CheckedReply } from '../../contract-check.ts';
import { openUrl } from '../../database.ts';
import { edited } from '../../edited-contract.ts';
import { connectRaw } from '../../raw-client.ts';
import { handlersFor, KEY, loadOurs, send, startService } from '../../service.ts';

const toErrorBody = (({ code, message, status, requestId, operation, reply }) => ({
  errors: [{ number: status, text: `${code} (${status}): ${message}` }],
  isFault: true,
  request_id: requestId,
  at: `${operation} ${reply}`,
})) as (error: OwnError) => unknown as ToErrorBody;

const CONTRACT = edited(({ schemas, getPet }) => {
  getPet['x-sunset'] = '2026-11-21';
  const string = { type: 'string' };
  const item = { type: 'object', properties: { number: { type: 'integer' }, text: { type: 'string' } } };
  const properties = {
    errors: { type: 'array', items: item },
    isFault: { type: 'boolean' },
    request_id: string,
    at: string,
  };
  Object.assign(schemas.Error, { required: ['errors', 'isFault', 'request_id', 'at'], properties });
});

const withText = (number: number, code: string) => ({
  errors: [{ number, text: new RegExp(`^${code} `) }],
  isFault: true,
});

const CATALOGUE = buildCatalogue(domain);

/** For each error code, what listPets throws or answers to cause it. */
const THROWN: Partial<Record<ErrorCode, () => unknown>> = {
  internal_error: () => {
    throw new Error('a slip');
  },
  not_implemented: () => notImplemented(),
  already_done: () => refuse('already_done', 'No.'),
  idempotency_key_reused: () => refuse('idempotency_key_reused', 'No.'),
  ids_used_up: () => refuse('ids_used_up', 'No.'),
  pet_not_found: () => refuse('pet_not_found', 'No.'),
  unavailable: () => Promise.reject(new StoreUnavailable('gone')),
  outcome_unknown: () => Promise.reject(new StoreUnavailable('gone', 'outcome_unknown')),
  ...Object.fromEntries(Object.entries(GENERAL).map(([code, { status }]) => [code, () => Promise.reject({ status })])),
};
const POST = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
const GET = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n`;
const SENT: Partial<Record<ErrorCode, string>> = {
  invalid_request: `${GET.replace('pets', 'pets?limit=0')}\r\n`,
  malformed_json: `${POST}Content-Length: 1\r\n\r\n{`,
  malformed_request: 'GET / HTTP/1.1\r\n: :\r\n\r\n',
  unauthorized: 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n',
  route_not_found: `${GET.replace('pets', 'nothing')}\r\n`,
  method_not_allowed: 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
  request_timeout: 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n',
  gone: `${GET.replace('pets', 'pets/1')}\r\n`,
  payload_too_large: `${POST}Content-Length: 99999\r\n\r\n`,
  uri_too_long: `${GET.replace('pets', 'x'.repeat(9000))}\r\n`,
  unsupported_media_type: `${POST.replace('/json', '/xml')}Content-Length: 1\r\n\r\n1`,
  expectation_failed: `${GET}Expect: x\r\n\r\n`,
  headers_too_large: `${GET}X: ${'x'.repeat(20_000)}\r\n\r\n`,
  http_version_not_supported: `${GET.replace('1.1', '2.0')}\r\n`,
  overloaded: `${GET}\r\n`.repeat(3),
};

t.test('the body of every error reply fits the Error schema of the contract', async (t) => {
  const contract = await load(t, CONTRACT);
  let answer = (): unknown => ({ status: 200, body: [] });
  const listPets = Object.assign(async () => answer(), { operation: 'listPets' });
  const store = openUrl('sqlite::memory:');
  const [reader, rare] = [makeKey('petstore'), makeKey('petstore')];
  await store.createKey(toStoredKey(reader, 'reads', undefined, ['pets:read']));
  await store.createKey(toStoredKey(rare, 'rare', undefined, undefined, '1/d'));
  const options = {
    contract,
    toErrorBody,
    handlers: { ...handlersFor(contract), listPets: listPets as AnyHandler },
    limits: { ...loadConfig({}), maxPipelined: 2 },
  };
  const { port } = await startService(t, { ...options, store });
  const hasty = await startService(t, { ...options, requestTimeout: 500 });
  const seen = new Set<string>();
  function check(code: string, { status, headers, text }: CheckedReply) {
    const { errors, isFault, request_id } = JSON.parse(text);
    t.equal(request_id, headers['x-request-id'], code);
    const expected = CATALOGUE[code]?.status as number;
    t.match({ status, errors, isFault }, { ...withText(expected, code), status: expected }, code);
    t.equal(errors[0].text.split(' ')[0], code);
    seen.add(code);
  }
  for (const [code, bytes] of Object.entries(SENT)) {
    const { socket, replies } = connectRaw(code === 'request_timeout' ? hasty.port : port, bytes);
    const all = await replies(code === 'overloaded' ? 3 : 1);
    socket.destroy();
    check(code, all.at(-1) as CheckedReply);
  }
  for (const [code, act] of Object.entries(THROWN)) {
    answer = act;
    check(code, await send(port, '/v1/pets'));
  }
  const denied = await send(port, '/v1/pets', { method: 'POST', key: reader, body: {} });
  check('forbidden', denied);
  await send(port, '/v1/pets', { key: rare });
  const limited = await send(port, '/v1/pets', { key: rare });
  check('rate_limited', limited);
  t.strictSame(
    [...seen].sort(),
    Object.keys(CATALOGUE).sort(),
    'the test has provoked each error code of the catalogue',
  );
});

/** Returns the first problem of a start with this schema of Error and this function in `src/errors.ts`. */
async function problemOf(t: Test, schema: Json, toBody: (error: Json) => unknown): Promise<string | undefined> {
  const yaml = edited(({ schemas }) => {
    schemas.Error = schema;
  });
  const [problem] = await problemsOf(t, yaml, false, toBody as ToErrorBody);
  return problem?.replace('operation listPets: response 400: what toErrorBody in src/errors.ts makes of ', '');
}

t.test(
  "if a team's toErrorBody throws or returns a body that does not fit the contract, the service does not start",
  async (t) => {
    const field = { type: 'object', properties: { error: { type: 'string' } } };
    const isThere = { ...field, required: ['error'] };
    const none = 'invalid_request is no such body: ';
    t.equal(await problemOf(t, isThere, () => ({})), `${none}body.error is missing`);
    t.equal(await problemOf(t, isThere, ({ code }) => code), `${none}body must be of type object`);
    t.equal(
      await problemOf(t, field, ({ code, message }) => ({ code, message })),
      `${none}the contract does not name all of body.code, body.message`,
    );
    t.equal(
      await problemOf(t, field, ({ nothing }) => ({ error: nothing.code })),
      `${none}it throws TypeError: Cannot read properties of undefined (reading 'code')`,
    );
    const short = { type: 'object', properties: { error: { type: 'string', maxLength: 100 } } };
    t.equal(
      await problemOf(t, short, ({ message }) => ({ error: message })),
      `${none}body.error must have at most 100 characters`,
    );
    t.equal(await problemOf(t, field, ({ message }) => ({ error: message })), undefined);
  },
);

t.test(
  "if a team's toErrorBody leaves out the message although the contract has a field for it, the service does not start",
  async (t) => {
    const empty = (at: string) => `invalid_request is no such body: it has no message: write it to ${at}`;
    const text = { type: 'string' };
    const closed = (properties: Json) => ({ type: 'object', additionalProperties: false, properties });
    const id = { type: 'string', format: 'uuid' };
    const [reason, list] = [closed({ id, reason: text }), (items: Json) => ({ type: 'array', items })];
    for (const [schema, body, at] of [
      [reason, {}, 'body.reason'],
      [reason, { reason: '' }, 'body.reason'],
      [list(reason), [], 'body.*.reason'],
      [list(text), [], 'body.*'],
      [closed({ errors: list(reason) }), { errors: [] }, 'body.errors.*.reason'],
      [{ anyOf: [closed({ id }), closed({ error: { type: ['string', 'null'] } })] }, { error: null }, 'body.error'],
    ] as [Json, Json, string][])
      t.equal(await problemOf(t, schema, () => body), empty(at));
    t.equal(await problemOf(t, reason, ({ message }) => ({ reason: message.slice(0, 9) })), undefined);
    const node = closed({
      kind: { enum: ['a'] },
      id,
      next: { $ref: '#/components/schemas/Error' },
      not: { not: text },
    });
    for (const schema of [closed({ id, ok: { type: 'boolean' } }), node])
      t.equal(await problemOf(t, schema, () => ({})), undefined);
  },
);

function makeLoop(): unknown {
  const body: Record<string, unknown> = {};
  body.self = body;
  return body;
}

const FAULTY: [what: string, toErrorBody: () => unknown, cause: RegExp][] = [
  [
    'throws',
    () => {
      throw new Error('a slip of the team');
    },
    /a slip of the team/,
  ],
  ['returns a body that contains itself', makeLoop, /circular|call stack/],
  ['returns undefined', () => undefined, /cannot be written/],
];

for (const [what, toErrorBody, cause] of FAULTY) {
  t.test(
    `if a team's toErrorBody ${what} while the server runs, the client still gets a reply, and the log gives the cause`,
    async (t) => {
      // A built contract is not checked again at the start, so the faulty function is only found at run time.
      const { contract } = await loadOurs();
      const lines: string[] = [];
      const log = { write: (line: string) => void lines.push(line) };
      const { port } = await startService(t, { contract, toErrorBody: toErrorBody as () => never, log });
      const refused = await send(port, '/v1/pets/1');
      t.match(refused, { status: 500, headers: { 'content-type': /^application\/json/ } });
      t.match(JSON.parse(refused.text), { code: 'internal_error' }, 'the reply is the same as for a failing handler');
      const unfit = await send(port, '/v1/pets?limit=0');
      t.match(JSON.parse(unfit.text), { code: 'invalid_request', status: 400 });
      const thrown = await send(port, '/v1/pets', { method: 'POST', body: '{' });
      t.match(JSON.parse(thrown.text), { code: 'malformed_json', status: 400 });
      const { socket, replies } = connectRaw(port, 'GET / HTTP/1.1\r\n: :\r\n\r\n');
      const [raw] = await replies(1);
      socket.destroy();
      t.match(JSON.parse((raw as CheckedReply).text), { code: 'malformed_request', status: 400 });
      const reported = lines.filter((line) => line.includes('src/errors.ts has failed'));
      t.ok(reported.length > 0);
      for (const line of reported) t.match(line, cause);
    },
  );
}

t.test('64-bit integers in an error body keep every digit', async (t) => {
  const int64 = { type: 'integer', format: 'int64' };
  const yaml = edited(({ schemas }) => {
    schemas.Error = { type: 'object', properties: { number: int64 } };
  });
  const toBody = (() => ({ number: 9007199254740993n })) as () => unknown as ToErrorBody;
  t.strictSame(await problemsOf(t, yaml, false, toBody), []);
  const { port } = await startService(t, { contract: await load(t, yaml), toErrorBody: toBody });
  t.equal((await send(port, '/v1/pets?limit=0')).text, '{"number":9007199254740993}');
  t.equal((await send(port, '/v1/pets', { key: null })).text, '{"number":9007199254740993}');
});

t.test(
  'an error is plain text if the contract declares so for its status; toErrorBody makes errors of undeclared statuses',
  async (t) => {
    const yaml = edited(({ getPet }) => {
      getPet.responses['404'].content = { 'text/plain': { schema: { type: 'string' } } };
      delete getPet.responses.default;
    });
    const refusals = [refuse('pet_not_found', 'Gone.'), refuse('already_done', 'Done.')];
    const getPet = (async () => refusals.shift()) as AnyHandler;
    const contract = await load(t, yaml);
    const { port } = await startService(t, { contract, handlers: { ...handlersFor(contract), getPet } });
    const { status, text } = await send(port, '/v1/pets/1');
    t.strictSame({ status, text }, { status: 404, text: 'Gone.' });
    t.match(JSON.parse((await send(port, '/v1/pets/1')).text), { code: 'already_done', message: 'Done.', status: 409 });
  },
);

t.test('the build reports an error code in the contract that neither the server nor any collection uses', async (t) => {
  const withCode = edited(({ schemas }) => schemas.ErrorCode['x-extensible-enum'].push('pet_lost'));
  t.strictSame(findUnknownCodes(await load(t, withCode), domain), [
    {
      words:
        'schema Error: field code: pet_lost has no status: give the description of a collection errors: { pet_lost: { status: 404 } }',
      pointer: '/components/schemas/Error/code',
    },
  ]);
  // Other forms of Error may contain any codes of the team.
  const texts = edited(({ schemas }) => Object.assign(schemas.Error, { required: [], properties: { code: {} } }));
  const open = edited(({ schemas }) => (schemas.ErrorCode = { type: 'string' }));
  const any = edited(({ schemas }) => (schemas.Error = { type: 'object' }));
  for (const yaml of [texts, CONTRACT, open, any]) t.strictSame(findUnknownCodes(await load(t, yaml), domain), []);
});

t.test(
  'an error whose status is not declared gets the media type of the declared errors, or plain JSON if none is declared',
  async (t) => {
    const typeOf = async (count: number) => {
      const yaml = edited(({ contract, paths }) => {
        const operations = Object.values<Json>(paths).flatMap((item) => Object.values<Json>(item));
        const ofPaths = operations.flatMap(({ responses = {} }) =>
          Object.entries<Json>(responses).flatMap(([status, { content }]) => (/^[45d]/.test(status) && content) || []),
        );
        const ofComponents = Object.values<Json>(contract.components.responses).map(({ content }) => content);
        for (const content of [...ofComponents, ...ofPaths].slice(0, count)) {
          content['application/problem+json'] = content['application/json'];
          delete content['application/json'];
        }
      });
      return errorTypeOf(await load(t, yaml));
    };
    t.equal(await typeOf(0), 'application/json');
    t.equal(await typeOf(1), 'application/json');
    t.equal(await typeOf(99), 'application/problem+json');
  },
);
