/** A contract with the resource `books`, for tests of the code that `new` writes. */
import type { Json } from '../../any-json.ts';

export const text = { type: 'string' };
export const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
export const reply = (schema: Json, others = {}) => ({ description: 'Done.', ...json(schema), ...others });
export const record = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const path = (name: string, schema: Json) => ({ name, in: 'path', required: true, schema });
export const query = (name: string, schema: Json, others = {}) => ({ name, in: 'query', schema, ...others });
export const none = { description: 'None.' };
/** Returns a function that makes operations that answer with a record of the schema `name`. */
export const answering =
  (name: string) =>
  (operationId: string, others = {}) => ({
    operationId,
    ...others,
    responses: { 200: reply(record(name)), default: reply(record('Failure')) },
  });

/** Returns the contract after an edit of its parts. `name` replaces the name of the resource. */
export function books(
  edit: (parts: { paths: Json; schemas: Json; book: Json; body: Json }) => void = () => {},
  name = 'books',
): Json {
  const int64 = { type: 'integer', format: 'int64' };
  const book: Json = {
    type: 'object',
    required: ['id', 'title', 'state', 'views', 'isOpen', 'tags', 'createdAt', 'updatedAt', 'revision'],
    properties: {
      ...{
        id: int64,
        title: text,
        state: { enum: ['new', 'old'], type: 'string' },
        views: int64,
        isOpen: { type: 'boolean' },
      },
      ...{
        tags: { type: 'array', items: text },
        note: text,
        order: { type: ['string', 'null'] },
        price: { type: 'number' },
      },
      ...{ createdAt: { ...text, format: 'date-time' }, updatedAt: { ...text, format: 'date-time' }, revision: int64 },
    },
  };
  const body: Json = {
    type: 'object',
    required: ['title'],
    properties: { title: text, note: text, price: { type: 'number' } },
  };
  const errors = { 404: reply(record('Failure')), default: reply(record('Failure')) };
  const requestBody = { required: true, ...json(record('NewBook')) };
  const paths: Json = {
    [`/${name}`]: {
      post: {
        operationId: 'createBook',
        requestBody,
        responses: {
          201: reply(record('Book'), { headers: { Location: { schema: text } } }),
          default: reply(record('Failure')),
        },
      },
      get: {
        operationId: 'listBooks',
        parameters: [
          query('limit', { type: 'integer', minimum: 1, maximum: 50, default: 20 }),
          query('page', { type: 'integer', minimum: 1 }),
          query('state', { type: 'string', enum: ['new', 'old'] }),
          query('sort', text),
        ],
        responses: {
          200: reply({
            type: 'object',
            required: ['items', 'total'],
            properties: {
              items: { type: 'array', items: record('Book') },
              total: { type: 'integer' },
              hasMore: { type: 'boolean' },
              totalPages: { type: 'integer' },
              page: { type: 'integer' },
              limit: { type: 'integer' },
            },
          }),
          ...errors,
        },
      },
    },
    [`/${name}/{bookId}`]: {
      parameters: [path('bookId', int64)],
      get: { operationId: 'getBook', responses: { 200: reply(record('Book')), ...errors } },
      patch: { operationId: 'changeBook', requestBody, responses: { 200: reply(record('Book')), ...errors } },
      put: { operationId: 'replaceBook', requestBody, responses: { 200: reply(record('Book')), ...errors } },
      delete: { operationId: 'deleteBook', responses: { 204: none, ...errors } },
    },
  };
  const schemas: Json = {
    Book: book,
    NewBook: body,
    Failure: { type: 'object', required: ['message'], properties: { message: text } },
  };
  edit({ paths, schemas, book, body });
  return { openapi: '3.1.0', info: { title: 'Books', version: '1.0.0' }, paths, components: { schemas } };
}

/** Books with entity tags: each change and the get declare the headers and statuses of conditions. */
export const taggedBooks = (edit: Parameters<typeof books>[0] = () => {}): Json =>
  books((parts) => {
    const header = (name: string, required = false) => ({ name, in: 'header', required, schema: text });
    const tag = { ETag: { required: true, schema: text } };
    const { '/books': all, '/books/{bookId}': item } = parts.paths;
    all.post.responses[201].headers.ETag = { schema: text };
    for (const method of ['get', 'patch', 'put']) item[method].responses[200].headers = tag;
    item.get.parameters = [header('If-None-Match')];
    item.get.responses[304] = { ...none, headers: tag };
    for (const method of ['patch', 'put', 'delete']) {
      item[method].parameters = [header('If-Match', method === 'put')];
      item[method].responses[412] = reply(record('Failure'));
    }
    edit(parts);
  });
