/**
 * The straightforward baseline: a server with the same contract and the same libraries, used as their documentation
 * shows. The server uses ajv's defaults, service handlers, a key check in a hook, rows as objects, and one INSERT and
 * one fsync for each create, and does not log requests.
 */
import { fileURLToPath } from 'node:url';
import bearerAuth from '@fastify/bearer-auth';
import Sqlite from 'better-sqlite3';
import fastify from 'fastify';
import openapiGlue from 'fastify-openapi-glue';

const { PORT, DATABASE_URL, API_KEYS } = process.env;
const CONTRACT = fileURLToPath(new URL('../../../openapi/petstore.yaml', import.meta.url));
const PET = 'id, name, category_id AS categoryId, status';

const db = new Sqlite(DATABASE_URL.replace('sqlite:', ''));
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
const select = db.prepare(`SELECT ${PET} FROM pets WHERE id = ?`);
const list = db.prepare(`SELECT ${PET} FROM pets WHERE id > ? ORDER BY id LIMIT ?`);
const listByStatus = db.prepare(`SELECT ${PET} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT ?`);
const insert = db.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');

const toPet = (row) => ({ ...row, status: row.status ?? undefined });
const toCursor = (id) => Buffer.from(String(id)).toString('base64url');
const fromCursor = (cursor) => Number(Buffer.from(cursor, 'base64url').toString());

const serviceHandlers = {
  async listPets(request, reply) {
    const { limit, status, after } = request.query;
    const start = after ? fromCursor(after) : 0;
    // The record after the requested ones shows whether a next page exists.
    const rows = status ? listByStatus.all(status, start, limit + 1) : list.all(start, limit + 1);
    const pets = rows.slice(0, limit).map(toPet);
    if (rows.length > limit) {
      const search = new URLSearchParams({ ...request.query, after: toCursor(pets.at(-1).id) });
      reply.header('link', `</v1/pets?${search}>; rel="next"`);
    }
    return pets;
  },
  async createPet(request, reply) {
    const { name, categoryId, status } = request.body;
    const { lastInsertRowid: id } = insert.run(name, categoryId, status ?? null);
    reply.code(201).header('location', `/v1/pets/${id}`);
    return { id, ...request.body };
  },
  async getPet(request, reply) {
    const row = select.get(request.params.petId);
    if (row) return toPet(row);
    return reply.code(404).send({ code: 'pet_not_found', message: 'There is no such pet.', status: 404 });
  },
};

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
await app.register(openapiGlue, { specification: CONTRACT, serviceHandlers, prefix: 'v1' });
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
