/**
 * The lean server: the ideas of this service with as little around them as one can have. SQLite writes the JSON, pages and
 * pets are kept as text, creates of one turn share an fsync. One key, no contract: not every wrong request is refused, nothing is
 * logged or limited, a categoryId is only exact up to 2^53, and no other process may write to its file.
 */
import Sqlite from 'better-sqlite3';
import fastify from 'fastify';

const { PORT, DATABASE_URL, API_KEYS } = process.env;
const MOST_PETS = 50_000;
const JSON_TYPE = 'application/json; charset=utf-8';

const db = new Sqlite(DATABASE_URL.replace('sqlite:', ''));
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
const PET = `'{"id":' || id || ',"name":' || json_quote(name) || ',"categoryId":' || category_id ||
  iif(status IS NULL, '', ',"status":' || json_quote(status)) || '}'`;
const select = db.prepare(`SELECT ${PET} FROM pets WHERE id = ?`).pluck();
const preparePage = (filter) =>
  db
    .prepare(`SELECT '[' || coalesce(group_concat(pet, ','), '') || ']', count(*)
              FROM (SELECT ${PET} AS pet FROM pets ${filter} ORDER BY id LIMIT +?)`)
    .raw();
const list = preparePage('');
const listByStatus = preparePage('WHERE status = ?');
const insert = db.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
const insertAll = db.transaction((creates) => {
  for (const create of creates) {
    const { name, categoryId, status = null } = create.pet;
    create.id = insert.run(name, categoryId, status).lastInsertRowid;
  }
});

/** A full page stays as it is when pets are added at the end; the others are read again. */
const fullPages = new Map();
const lastPages = new Map();
const pets = new Map();

function readPage(limit, status) {
  const key = `${limit} ${status}`;
  const known = fullPages.get(key) ?? lastPages.get(key);
  if (known) return known;
  const [text, count] = status ? listByStatus.get(status, limit) : list.get(limit);
  (count === limit ? fullPages : lastPages).set(key, text);
  return text;
}

function readPet(id) {
  const known = pets.get(id);
  if (known) return known;
  const text = select.get(id);
  if (text && pets.size < MOST_PETS) pets.set(id, text);
  return text;
}

let waiting = [];

function writeAll() {
  const creates = waiting;
  waiting = [];
  insertAll.immediate(creates);
  lastPages.clear();
  for (const { id, pet, reply } of creates)
    reply
      .code(201)
      .type(JSON_TYPE)
      .send(JSON.stringify({ id, ...pet }));
}

const toError = (status, code, message) => JSON.stringify({ code, message, status });
const refuse = (reply, status, code, message) =>
  reply
    .code(status)
    .type(JSON_TYPE)
    .send(toError(status, code, message));

const integer = { type: 'integer' };
const status = { enum: ['available', 'pending', 'sold'] };
const toObject = (properties, required = []) => ({ type: 'object', properties, required });
const params = toObject({ id: integer });
const querystring = toObject({ limit: { ...integer, minimum: 1, maximum: 100, default: 20 }, status });
const body = toObject({ name: { type: 'string' }, categoryId: integer, status }, ['name', 'categoryId']);

const app = fastify();
app.setErrorHandler((error, _request, reply) => refuse(reply, error.statusCode ?? 500, 'failed', error.message));
app.addHook('onRequest', (request, reply, done) => {
  if (request.headers.authorization === `Bearer ${API_KEYS}`) done();
  else refuse(reply, 401, 'unauthorized', 'Unknown key.');
});
app.get('/v1/pets', { schema: { querystring } }, (request, reply) => {
  reply.type(JSON_TYPE).send(readPage(request.query.limit, request.query.status));
});
app.post('/v1/pets', { schema: { body } }, (request, reply) => {
  if (waiting.length === 0) setImmediate(writeAll);
  waiting.push({ pet: request.body, reply });
});
app.get('/v1/pets/:id', { schema: { params } }, (request, reply) => {
  const text = readPet(request.params.id);
  if (text) reply.type(JSON_TYPE).send(text);
  else refuse(reply, 404, 'pet_not_found', 'There is no such pet.');
});
await app.listen({ host: '127.0.0.1', port: Number(PORT) });
