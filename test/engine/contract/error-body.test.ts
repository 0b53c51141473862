/** Errors as another contract has them: `x-error-body`. */
import t from 'tap';
import { CATALOGUE, CODES, type ErrorCode, GENERAL, notImplemented, refuse } from '../../../src/engine/errors.ts';
import type { AnyHandler } from '../../../src/engine/routes/handler.ts';
import { loadConfig } from '../../../src/operate/config.ts';
import { makeKey, toStoredKey } from '../../../src/store/api-keys.ts';
import { StoreUnavailable } from '../../../src/store/store.ts';
import { load, problemsOf } from '../../added-operations.ts';
import type { Reply } from '../../contract-check.ts';
import { openUrl } from '../../database.ts';
import { edited } from '../../edited-contract.ts';
import { connectRaw } from '../../raw-client.ts';
import { handlersFor, KEY, send, startService } from '../../service.ts';

const TEMPLATE = { errors: [{ number: '{status}', text: '{code} ({status}): {message}' }], isFault: true };

const CONTRACT = edited(({ contract, schemas, getPet }) => {
  getPet['x-sunset'] = '2026-11-21';
  contract['x-error-body'] = TEMPLATE;
  const item = { type: 'object', properties: { number: { type: 'integer' }, text: { type: 'string' } } };
  const properties = { errors: { type: 'array', items: item }, isFault: { type: 'boolean' } };
  Object.assign(schemas.Error, { required: ['errors', 'isFault'], properties });
});

const withText = (number: number, code: string) => ({
  errors: [{ number, text: new RegExp(`^${code} `) }],
  isFault: true,
});

/** What makes each error; those that handlers throw come from listPets. */
const THROWN: Partial<Record<ErrorCode, () => unknown>> = {
  internal_error: () => {
    throw new Error('a slip');
  },
  not_implemented: () => notImplemented(),
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

t.test('every error has the body that the contract makes of it', async (t) => {
  const contract = await load(t, CONTRACT);
  let answer = (): unknown => ({ status: 200, body: [] });
  const listPets = Object.assign(async () => answer(), { operation: 'listPets' });
  const store = openUrl('sqlite::memory:');
  const [reader, rare] = [makeKey(), makeKey()];
  await store.createKey(toStoredKey(reader, 'reads', undefined, ['pets:read']));
  await store.createKey(toStoredKey(rare, 'rare', undefined, undefined, '1/d'));
  const { port } = await startService(t, {
    contract,
    store,
    handlers: { ...handlersFor(contract), listPets: listPets as AnyHandler },
    requestTimeout: 500,
    limits: { ...loadConfig({}), maxPipelined: 2 },
  });
  const seen = new Set<string>();
  function check(code: string, status: number, text: string) {
    const { errors, isFault } = JSON.parse(text);
    t.match(
      { status, errors, isFault },
      { ...withText(CATALOGUE[code as ErrorCode].status, code), status: CATALOGUE[code as ErrorCode].status },
      code,
    );
    t.equal(errors[0].text.split(' ')[0], code);
    seen.add(code);
  }
  for (const [code, bytes] of Object.entries(SENT)) {
    const { socket, replies } = connectRaw(port, bytes);
    const all = await replies(code === 'overloaded' ? 3 : 1);
    const { status, text } = all.at(-1) as Reply;
    socket.destroy();
    check(code, status, text);
  }
  for (const [code, act] of Object.entries(THROWN)) {
    answer = act;
    const { status, text } = await send(port, '/v1/pets');
    check(code, status, text);
  }
  const denied = await send(port, '/v1/pets', { method: 'POST', key: reader, body: {} });
  check('forbidden', denied.status, denied.text);
  await send(port, '/v1/pets', { key: rare });
  const limited = await send(port, '/v1/pets', { key: rare });
  check('rate_limited', limited.status, limited.text);
  t.strictSame([...seen].sort(), [...CODES].sort(), 'each code of the catalogue was provoked');
});

t.test('a body that its own contract does not describe is refused at the start', async (t) => {
  const [problem] = await problemsOf(
    t,
    edited(({ contract }) => (contract['x-error-body'] = TEMPLATE)),
  );
  t.equal(
    problem,
    'operation listPets: response 400: its body cannot be the Error invalid_request of the server: body.code is missing; body.message is missing; body.status is missing',
  );
});
