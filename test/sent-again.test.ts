/** Changes that are sent again with their Idempotency-Key after a deploy whose contract no longer allows their stored answer. */
import t, { type Test } from 'tap';
import { operation, withPaths } from './added-operations.ts';
import type { Json } from './any-json.ts';
import { prepareNotes, startVersion, type Version } from './notes.ts';
import { type Open, onBoth } from './orders/shops.ts';

/** A new field that each note has: those that are there get it. */
const COLORED: Version = {
  fields: { color: 'brown' },
  migrations: ["ALTER TABLE notes ADD COLUMN color text NOT NULL DEFAULT 'brown'"],
};
/** It says that the change was made, and never that nothing was. */
const DONE = {
  status: 409,
  body: { code: 'already_done', message: /^The change was made before.*do not send it again with another key/ },
};

const toYaml = (schema: Json) =>
  withPaths({
    '/outputs': {
      post: operation('addOutput', {
        parameters: [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string' }, 'x-idempotency-hours': 24 }],
        requestBody: { content: { 'application/json': { schema: {} } } },
        responses: { '200': { content: { 'application/json': { schema } } } },
      }),
    },
  });

function testSentAgain(t: Test, prepare: (t: Test) => Open): void {
  t.test(
    'a change whose stored answer no longer fits the contract is answered with the record as it is now',
    async (t) => {
      const start = prepareNotes(t, prepare(t));
      const before = await start();
      const changes: [status: number, ...sent: Parameters<typeof before.send>][] = [
        [
          200,
          'POST',
          '',
          [
            { slug: 'a', body: 'A' },
            { slug: 'b', body: 'B' },
          ],
        ],
        [200, 'PATCH', 'a', { body: 'C' }],
        [201, 'PUT', 'c', { body: 'C' }],
        [200, 'PUT', 'b', { body: 'D' }],
      ];
      const send = ({ send: by }: typeof before, index: number) => {
        const [, method, slug, body] = changes[index] as (typeof changes)[number];
        return by(method, slug, body, { 'idempotency-key': `${index}` });
      };
      for (const index of changes.keys()) t.match(await send(before, index), { status: changes[index]?.[0] });
      const after = await start(COLORED);
      await after.send('PATCH', 'b', { color: 'red' });
      const [a, b, c] = [
        { slug: 'a', color: 'brown' },
        { slug: 'b', body: 'D', color: 'red' },
        { slug: 'c', color: 'brown' },
      ];
      for (const [index, body] of [[a, b], a, c, b].entries())
        t.match(await send(after, index), { status: changes[index]?.[0], body }, `${changes[index]}`);
      t.equal((await after.collections.notes.list({ limit: 9 }))?.body.read().length, 3);
      // Of what is gone there is none.
      t.match(await after.send('DELETE', 'a', undefined, { 'idempotency-key': 'gone' }), { status: 204 });
      for (const index of [0, 1]) t.match(await send(after, index), DONE);
      t.match(await send(after, 2), { status: 201, body: c });
      t.match(await after.send('DELETE', 'a', undefined, { 'idempotency-key': 'gone' }), { status: 204 });
      t.match(await send(after, 3), { status: 200, body: b });
    },
  );
}

function testOutputs(t: Test, prepare: (t: Test) => Open): void {
  t.test(
    'an answer of a transaction that a later version cannot give is 409, which says that it was done',
    async (t) => {
      const open = prepare(t);
      const { store, pets } = await open();
      const toOutput = async ({ body, idempotency, orders }: Json) =>
        orders.add({ name: 'Rex', output: body }, { idempotency });
      const start = async (schema: Json, answer: (output: Json) => unknown) => {
        const addOutput = async (call: Json) => ({ status: 200, body: answer(await toOutput(call)) });
        const { request } = await startVersion(t, toYaml(schema), { addOutput }, store);
        return (key: string) =>
          request('/v1/outputs', { method: 'POST', body: { sum: 5 }, headers: { 'idempotency-key': key } });
      };
      const before = await start({}, (output) => output);
      t.match(await before('one'), { status: 200, body: { sum: 5 } });
      const strict = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
      t.match(await (await start(strict, (output) => output))('one'), DONE);
      t.match(await (await start({}, (output) => output.total.toFixed()))('one'), DONE);
      // A change that is made now, and was not before, is a fault of the service.
      t.match(await (await start(strict, (output) => output))('two'), { status: 500 });
      t.match(await (await start({}, (output) => output))('one'), { status: 200, body: { sum: 5 } });
      t.equal((await pets.list({ limit: 9 }))?.body.read().length, 2);
    },
  );
}

onBoth(t, testSentAgain, {});
onBoth(t, testOutputs);
