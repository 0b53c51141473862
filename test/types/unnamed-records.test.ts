/** The types of records for a contract without named schemas. */
import t from 'tap';
import { buildTypes } from '../../src/contract-first/cli/generate/contract-types.ts';
import type { Json } from '../any-json.ts';
import { diagnose, TYPES } from '../compiler.ts';

t.test('if the contract has no schema for a record, its type is that of the reply that contains it', async (t) => {
  const schema: Json = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
  const { text } = await buildTypes({
    openapi: '3.1.0',
    info: { title: 'Notes', version: '1.0.0' },
    paths: {
      '/notes/{id}': {
        get: {
          operationId: 'getNote',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 200: { description: 'A note.', content: { 'application/json': { schema } } } },
        },
      },
    },
  });
  const toDomain = (column: string) => `
import type { Description } from 'contract-first/store';
const columns = { ${column}: { type: 'text', is: 'id' } } as const;
export const notes = { noun: 'note', schema: 'getNote()', table: 'notes', columns, errors: {}, migrations: new URL('file:///') } as const satisfies Description<'getNote()'>;`;
  const [right, wrong] = Object.values(
    diagnose({ 'src/right.ts': toDomain('id'), 'src/wrong.ts': toDomain('title'), [TYPES]: text }),
  );
  t.equal(right, '');
  t.match(wrong, /Property 'id' is missing/);
});
