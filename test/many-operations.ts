/** A contract with 120 operations. */
import { stringify } from 'yaml';
import type { Json } from './any-json.ts';

/** Forty resources, each listed, added and fetched, with schemas of their own. */
export function withManyOperations(): string {
  const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
  const string = { type: 'string' };
  const contract: Json = {
    openapi: '3.1.0',
    info: { title: 'Many', version: '1.0.0' },
    paths: {},
    components: { schemas: {} },
  };
  for (let index = 0; index < 40; index++) {
    const schema = { $ref: `#/components/schemas/Thing${index}` };
    const properties = {
      id: { type: 'integer', format: 'int64' },
      name: { ...string, maxLength: index + 1 },
      tags: { type: 'array', items: string },
    };
    contract.components.schemas[`Thing${index}`] = { type: 'object', required: ['name'], properties };
    const ok = (body: Json) => ({ '200': { description: 'Done', ...json(body) } });
    const limit = { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } };
    const id = { name: 'id', in: 'path', required: true, schema: properties.id };
    contract.paths[`/things-${index}`] = {
      get: { operationId: `list${index}`, parameters: [limit], responses: ok({ type: 'array', items: schema }) },
      post: { operationId: `add${index}`, requestBody: { required: true, ...json(schema) }, responses: ok(schema) },
    };
    contract.paths[`/things-${index}/{id}`] = {
      get: { operationId: `get${index}`, parameters: [id], responses: ok(schema) },
    };
  }
  return stringify(contract);
}
