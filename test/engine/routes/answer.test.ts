import t from 'tap';
import { addErrors } from '../../../src/contract-first/engine/errors/catalogue.ts';
import { answer, toTag } from '../../../src/contract-first/engine/index.ts';
import { refused } from '../../../src/contract-first/store/changes/transactions.ts';
import type { Idempotency, Put } from '../../../src/contract-first/store/collection.ts';

type Pet = { id: bigint; revision: bigint };
const pet: Pet = { id: 1n, revision: 5n };
const tag = ({ revision }: Pet) => toTag(revision);
const key = (isReplayed: boolean): Idempotency => ({
  caller: '',
  operation: '',
  key: '',
  hours: 1,
  digest: '',
  isReplayed,
});

t.test('answer() sends a record as the body of the reply, with headers that are made from the record', (t) => {
  t.strictSame(answer(200, pet), { status: 200, headers: {}, body: pet });
  t.strictSame(answer(201, pet, { headers: ({ id }) => ({ Location: `/${id}` }), idempotency: key(false) }), {
    ...{ status: 201, headers: { Location: '/1' }, body: pet },
  });
  t.strictSame(answer(201, pet, { headers: { Location: '/' }, tag, idempotency: key(true) }), {
    ...{ status: 201, headers: { Location: '/', ETag: '"5"', 'Idempotency-Replayed': 'true' }, body: pet },
  });
  t.end();
});

t.test('answer() sends 304 if the client already has the current record', (t) => {
  const unchanged = { status: 304, headers: { ETag: '"5"' } };
  for (const unless of ['"5"', '*', ' W/"4", W/"5"'])
    t.strictSame(answer(200, pet, { tag, unless }), unchanged, unless);
  for (const unless of [undefined, '"4"', '5', '"55"', '""'])
    t.strictSame(answer(200, pet, { tag, unless }), { status: 200, headers: { ETag: '"5"' }, body: pet }, `${unless}`);
  t.end();
});

t.test('answer() sends no body for a delete; for a put, it sends 201 if the record is new and otherwise 200', (t) => {
  t.strictSame(answer(204, true as boolean, { absent: 'not_found' }), { status: 204, headers: {} });
  t.match(answer(204, false as boolean, { absent: 'not_found' }), { status: 404, body: { code: 'not_found' } });
  const put = (isNew: boolean): Put<Pet> | undefined => ({ record: pet, isNew });
  t.strictSame(answer([200, 201], put(false), { absent: 'gone' }), { status: 200, headers: {}, body: pet });
  t.strictSame(answer([200, 201], put(true), { absent: 'gone', tag }), {
    status: 201,
    headers: { ETag: '"5"' },
    body: pet,
  });
  t.end();
});

t.test(
  "answer() turns a missing record or a refused change into an error; the handler may choose the error's code",
  (t) => {
    const missing = undefined as Pet | undefined;
    const error = (status: number, code: string, message: string) => ({ status, body: { code, message, status } });
    t.match(answer(200, missing, { absent: 'route_not_found' }), error(404, 'route_not_found', 'Route not found.'));
    t.match(
      answer(200, refused('conflict') as Pet | ReturnType<typeof refused<'conflict'>>),
      error(409, 'conflict', 'Conflict.'),
    );
    const referenced = refused('referenced') as true | ReturnType<typeof refused<'referenced'>>;
    t.match(answer(204, referenced, { refused: { referenced: 'conflict' } }), {
      status: 409,
      body: { code: 'conflict' },
    });
    addErrors({ pet_is_lost: { status: 410, message: 'The pet is lost.' } });
    const lost = answer(200, missing, { absent: 'pet_is_lost' as 'pet_not_found' });
    t.match(lost, error(410, 'pet_is_lost', 'The pet is lost.'));
    t.end();
  },
);
