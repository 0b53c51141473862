/** Errors as another contract has them: `x-error-body`. */
import t from 'tap';
import { handlers } from '../../src/generated/handlers.ts';
import { notImplemented } from '../../src/http/errors.ts';
import { load, problemsOf } from '../added-operations.ts';
import { edited } from '../edited-contract.ts';
import { sendRaw } from '../raw-client.ts';
import { send, startService } from '../service.ts';

const TEMPLATE = { errors: [{ number: '{status}', text: '{code} ({status}): {message}' }], isFault: true };

const CONTRACT = edited(({ contract, schemas }) => {
  contract['x-error-body'] = TEMPLATE;
  const item = { type: 'object', properties: { number: { type: 'integer' }, text: { type: 'string' } } };
  const properties = { errors: { type: 'array', items: item }, isFault: { type: 'boolean' } };
  Object.assign(schemas.Error, { required: ['errors', 'isFault'], properties });
});

const withText = (number: number, text: string) => ({ errors: [{ number, text }], isFault: true });

t.test('every error has the body that the contract makes of it', async (t) => {
  const contract = await load(t, CONTRACT);
  const listPets = Object.assign(notImplemented, { operation: 'listPets' as const });
  const { port } = await startService(t, { contract, handlers: { ...handlers, listPets } });
  const errorOf = async (url: string, key?: null) =>
    JSON.parse((await send(port, url, key === null ? { key } : {})).text);
  t.strictSame(
    await errorOf('/v1/pets', null),
    withText(401, 'unauthorized (401): The API key is missing: send Authorization: Bearer <API_KEY>.'),
  );
  t.strictSame(
    await errorOf('/v1/pets?limit=0'),
    withText(400, 'invalid_request (400): query.limit must be at least 1'),
  );
  t.strictSame(
    await errorOf('/v1/pets'),
    withText(501, 'not_implemented (501): This operation is not implemented yet.'),
  );
  t.strictSame(await errorOf('/v1/nothing'), withText(404, 'route_not_found (404): Nothing is served at this path.'));
  const [malformed] = await sendRaw(port, 'GET / HTTP/1.1\r\n: :\r\n\r\n');
  const text = 'malformed_request (400): The request is not well-formed HTTP.';
  t.strictSame(JSON.parse(malformed?.text as string), withText(400, text));
});

t.test('a body that its own contract does not describe is refused at the start', async (t) => {
  const [problem] = await problemsOf(
    t,
    edited(({ contract }) => (contract['x-error-body'] = TEMPLATE)),
  );
  t.equal(
    problem,
    "operation listPets: response 400: its body cannot be the Error invalid_request of the server: data must have required property 'code', data must have required property 'message', data must have required property 'status'",
  );
});
