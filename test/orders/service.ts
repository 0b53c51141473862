/**
 * A service of pets and orders, as another team would write it: its contract, and the files that the team adds to the
 * project.
 */
import { operation, withPaths } from '../added-operations.ts';
import type { Json } from '../any-json.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const content = (name: string) => ({ 'application/json': { schema: ref(name) } });
const header = (name: string, more: Json = {}) => ({ name, in: 'header', schema: { type: 'string' }, ...more });
const query = (name: string, schema: Json) => ({ name, in: 'query', schema });
const ETAG = { ETag: { description: 'The revision.', schema: { type: 'string' } } };
const LINK = { Link: { description: 'The next page.', schema: { type: 'string' } } };
const REPLAYED = { 'Idempotency-Replayed': { description: 'It was placed before.', schema: { type: 'string' } } };
const INT64 = { type: 'integer', format: 'int64' };
const CURSOR = { type: 'string', minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9_-]+$' };
const STATUS = { type: 'string', enum: ['placed', 'paid', 'sent'] };
const NEW = { petId: INT64, price: { ...INT64, minimum: 0 } };
const NOTE = { note: { type: 'string', minLength: 1, maxLength: 80, pattern: '^[^\\x00]*$' } };

const object = (properties: Json, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const RATES = {
  RateLimit: { $ref: '#/components/headers/RateLimit' },
  'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
};
const FAILURE = { $ref: '#/components/responses/Failure' };

/** An operation with these responses, and failures with these statuses. */
function answering(id: string, source: Json, failures: number[] = []): Json {
  const replies = Object.entries<Json>(source.responses).map(([status, reply]) => [
    status,
    reply.$ref ? reply : { ...reply, headers: { ...RATES, ...reply.headers } },
  ]);
  const made = operation(id, {
    ...source,
    responses: { ...Object.fromEntries(replies), ...Object.fromEntries(failures.map((status) => [status, FAILURE])) },
  });
  if (!('200' in source.responses)) delete made.responses['200'];
  return made;
}

const ORDER = {
  ...{ number: { type: 'string', format: 'uuid' }, ...NEW, ...NOTE, status: STATUS },
  ...{ placedAt: { type: 'string', format: 'date-time' }, revision: INT64 },
};

export const YAML = withPaths(
  {
    '/orders': {
      get: answering('listOrders', {
        parameters: [
          query('limit', { type: 'integer', format: 'int32', minimum: 1, maximum: 100, default: 20 }),
          query('status', STATUS),
          query('minPrice', INT64),
          query('maxPrice', INT64),
          query('order', { type: 'string', enum: ['newest', 'cheapest'] }),
          { ...query('after', CURSOR), 'x-opaque': true },
        ],
        responses: { '200': { headers: LINK, content: content('Orders') } },
      }),
      post: answering(
        'placeOrder',
        {
          parameters: [header('Idempotency-Key', { 'x-idempotency-hours': 24 })],
          requestBody: { required: true, content: content('NewOrder') },
          responses: {
            '201': { headers: REPLAYED, content: content('Order') },
            '422': { $ref: '#/components/responses/IdempotencyKeyReused' },
          },
        },
        [404, 409],
      ),
    },
    '/orders/{number}': {
      parameters: [{ name: 'number', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
      get: answering(
        'getOrder',
        {
          parameters: [header('If-None-Match')],
          responses: { '200': { headers: ETAG, content: content('Order') }, '304': { headers: ETAG } },
        },
        [404],
      ),
      patch: answering(
        'changeOrder',
        {
          parameters: [header('If-Match')],
          requestBody: { required: true, content: { 'application/merge-patch+json': { schema: ref('OrderChanges') } } },
          responses: { '200': { headers: ETAG, content: content('Order') } },
        },
        [404, 412, 428],
      ),
    },
    '/order-totals': {
      get: answering('getTotals', { responses: { '200': { content: content('Totals') } } }),
    },
  },
  ({ schemas }) => {
    schemas.ErrorCode['x-extensible-enum'].push('order_not_found', 'pet_not_available');
    Object.assign(schemas, {
      Order: object(
        ORDER,
        Object.keys(ORDER).filter((name) => name !== 'note'),
      ),
      Orders: { type: 'array', items: ref('Order') },
      NewOrder: object({ ...NEW, ...NOTE }, Object.keys(NEW)),
      OrderChanges: object({ status: STATUS, note: { ...NOTE.note, type: ['string', 'null'] } }),
      Total: object({ status: STATUS, count: INT64, sum: INT64 }, ['status', 'count', 'sum']),
      Totals: { type: 'array', items: ref('Total') },
    });
  },
);

const TABLE = (types: Record<'int64' | 'text' | 'sequence' | 'end', string>) => `CREATE TABLE orders (
  seq ${types.sequence},
  number ${types.text} NOT NULL UNIQUE,
  pet_id ${types.int64} NOT NULL UNIQUE REFERENCES pets (id),
  price ${types.int64} NOT NULL,
  note ${types.text},
  status ${types.text} NOT NULL,
  placed_at ${types.text} NOT NULL,
  revision ${types.int64} NOT NULL
)${types.end};
CREATE INDEX orders_by_status ON orders (status, seq);
CREATE INDEX orders_by_time ON orders (placed_at, seq);
CREATE INDEX orders_by_price ON orders (price, seq);
`;

/** The files of the service, by their paths in the project. */
export const FILES: Record<string, string> = {
  'src/orders/domain.ts': `import type { Description } from 'contract-first/store';

export const orders = {
  noun: 'order',
  schema: 'Order',
  table: 'orders',
  columns: {
    number: { column: 'number', type: 'uuid', set: 'id' },
    petId: { column: 'pet_id', type: 'int64', of: 'pets' },
    price: { column: 'price', type: 'int64' },
    note: { column: 'note', type: 'text', isOptional: true },
    status: { column: 'status', type: 'text', first: 'placed' },
    placedAt: { column: 'placed_at', type: 'time', set: 'created' },
    revision: { column: 'revision', type: 'int64', set: 'revision' },
  },
  lists: { equal: ['status'], range: ['price'], orders: { newest: '-placedAt', cheapest: 'price' } },
  unique: [{ fields: ['petId'], code: 'pet_not_available' }],
  errors: { order_not_found: { status: 404 }, pet_not_available: { status: 409 } },
  migrations: new URL('migrations/', import.meta.url),
} as const satisfies Description<'Order'>;
`,
  'src/orders/transactions.ts': `import { isRefused, refused } from 'contract-first/store';
import type { components } from '../generated/contract.ts';
import { reading, transaction } from '../generated/domain.ts';

type Schemas = components['schemas'];

/** Sells an animal that is available. */
export const place = transaction(function* ({ pets, orders }, { petId, ...order }: Schemas['NewOrder']) {
  const pet = yield* pets.update(petId, { status: 'sold' }, { if: { status: 'available' } });
  if (pet === undefined) return refused('pet_not_found');
  if (isRefused(pet)) return refused('pet_not_available');
  return yield* orders.create({ petId, ...order });
});

export const totals = reading(function* ({ sql }, _all: 'all') {
  return yield* sql<Schemas['Total']>\`
    SELECT status, count(*) AS count, sum(price) AS sum FROM orders GROUP BY status ORDER BY status\`;
});
`,
  'src/orders/migrations/sqlite/0001-orders.sql': TABLE({
    int64: 'INTEGER',
    text: 'TEXT',
    sequence: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    end: ' STRICT',
  }),
  'src/orders/migrations/postgres/0001-orders.sql': TABLE({
    int64: 'bigint',
    text: 'text COLLATE "C"',
    sequence: 'bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
    end: '',
  }),
  'handlers/placeOrder.ts': `import { handle, isRefused, refuse } from 'contract-first';

export default handle('placeOrder', async ({ body, orders, idempotency }) => {
  const order = await orders.place(body, { idempotency });
  if (!isRefused(order)) {
    return { status: 201, body: order, headers: idempotency?.isReplayed ? { 'Idempotency-Replayed': 'true' } : {} };
  }
  if (order.refused === 'pet_not_found') return refuse('pet_not_found', 'There is no such pet.');
  return refuse('pet_not_available', 'The pet is not available.');
});
`,
  'handlers/listOrders.ts': `import { handle, refuse } from 'contract-first';

export default handle('listOrders', async ({ query, orders }) => {
  const { minPrice, maxPrice, ...others } = query;
  const page = await orders.list({ ...others, price: { from: minPrice, below: maxPrice } });
  if (!page) return refuse('invalid_request', 'query.after is no cursor of this list.');
  return { status: 200, ...page };
});
`,
  'handlers/getOrder.ts': `import { handle, isUnchanged, refuse, toTag } from 'contract-first';

export default handle('getOrder', async ({ params, headers, orders }) => {
  const text = await orders.get(params.number);
  if (!text) return refuse('order_not_found', 'There is no such order.');
  const { revision } = text.read();
  const ETag = toTag(revision);
  if (isUnchanged(headers['If-None-Match'], revision)) return { status: 304, headers: { ETag } };
  return { status: 200, body: text, headers: { ETag } };
});
`,
  'handlers/changeOrder.ts': `import { handle, ifMatch, isRefused, refuse, toTag } from 'contract-first';

export default handle('changeOrder', async ({ params, headers, body, orders }) => {
  const tags = headers['If-Match'];
  if (tags === undefined) return refuse('precondition_required', 'Send If-Match.');
  const order = await orders.update(params.number, body, { if: ifMatch(tags) });
  if (order === undefined) return refuse('order_not_found', 'There is no such order.');
  if (isRefused(order)) return refuse('precondition_failed', 'The order was changed meanwhile.');
  return { status: 200, body: order, headers: { ETag: toTag(order.revision) } };
});
`,
  'handlers/getTotals.ts': `import { handle } from 'contract-first';

export default handle('getTotals', async ({ orders }) => ({ status: 200, body: await orders.totals('all') }));
`,
};
