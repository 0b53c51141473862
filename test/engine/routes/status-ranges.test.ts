import t from 'tap';
import { refuse } from '../../../src/contract-first/engine/errors/catalogue.ts';
import { operation, serve, withPaths } from '../../added-operations.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const error = json({ $ref: '#/components/schemas/Error' });
const id = json({ type: 'object', required: ['id'], properties: { id: { type: 'integer', format: 'int64' } } });

const responses = { '200': id, '2XX': id, '4XX': error, '5XX': {} };
const YAML = withPaths({ '/ranges': { get: operation('range', { responses }) } });

t.test(
  'a reply whose status is only declared as a range, such as 4XX, has the body that the range declares',
  async (t) => {
    let answer: object = {};
    const { request } = await serve(t, YAML, { range: () => answer });
    const ask = async (given: object) => {
      answer = given;
      const { status, text } = await request('/v1/ranges');
      return [status, text];
    };
    t.strictSame(await ask({ status: 202, body: { id: 9007199254740993n, extra: 1 } }), [
      202,
      '{"id":9007199254740993,"extra":1}',
    ]);
    t.strictSame(await ask(refuse('pet_not_found', 'No.')), [
      404,
      '{"code":"pet_not_found","message":"No.","status":404}',
    ]);
    t.strictSame(await ask({ status: 501 }), [501, '']);
    t.match((await request('/v1/ranges?q=1')).body, { code: 'invalid_request' });
  },
);
