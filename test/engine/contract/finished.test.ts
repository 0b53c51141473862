import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { finish } from '../../../src/contract-first/contract/finish.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { readFinished } from '../../../src/contract-first/engine/contract/finished.ts';
import { domain } from '../../../src/generated/domain.ts';
import { readOurs } from '../../service.ts';

const FILE = new URL('../../../openapi/petstore.yaml', import.meta.url);
const YAML = readFileSync(FILE);

t.test('a built program does not start if its contract has changed since the build', async (t) => {
  const read = await readOurs();
  const file = finish(read, domain);
  t.strictSame([...readFinished(file, YAML).operations.keys()], [...read.operations.keys()]);
  const refusal = {
    name: 'ContractError',
    problems: ['it has changed since this program was built: run `npm run generate`, and build again'],
  };
  t.throws(() => readFinished(file, Buffer.from(`# A comment is served, too.\n${YAML}`)), refusal);
  t.throws(
    () => readFinished({ ...file, format: 0 }, YAML),
    refusal,
    'a file from another version of contract-first is an error',
  );
});

/** A contract whose schemas contain everything that the finished form has to encode. */
const STRANGE = {
  openapi: '3.1.1',
  info: { title: 'Strange', version: '1', description: '{"$shared": 1, "of": "contract:a"}' },
  paths: {
    '/trees': {
      post: {
        operationId: 'plant',
        deprecated: true,
        'x-deprecated-at': '2026-01-02',
        'x-sunset': '2999-12-05',
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Tree' } } } },
        responses: {
          '200': {
            description: 'A tree.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Tree' } } },
          },
          '4XX': {
            description: 'None.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Leaf' } } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Tree: {
        type: 'object',
        properties: {
          branches: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
          leaf: { $ref: '#/components/schemas/Leaf' },
          $shared: { type: 'integer', format: 'int64', maximum: 'LARGEST' },
          ['__proto__']: { type: 'object', properties: { of: { $ref: '#/components/schemas/Leaf' } } },
        },
      },
      Leaf: { type: 'object', properties: { tree: { $ref: '#/components/schemas/Tree' }, code: { type: 'string' } } },
    },
  },
};

t.test(
  'the contract that a server loads from the build equals its source, even with recursive schemas and large numbers',
  async (t) => {
    const path = join(t.testdir(), 'strange.yaml');
    writeFileSync(path, JSON.stringify(STRANGE).replace('"LARGEST"', '9223372036854775806'));
    const read = await loadContract(path);
    const contract = readFinished(JSON.parse(JSON.stringify(finish(read, {}))), read.yaml);
    t.strictSame(contract.document, read.document);
    const [before, after] = [read, contract].map(({ operations }) => operations.get('plant'));
    t.strictSame(after?.deprecation, {
      at: new Date('2026-01-02'),
      sunset: new Date('2999-12-05'),
      successor: undefined,
    });
    t.strictSame(
      after?.replies.map(({ int64s }) => int64s),
      before?.replies.map(({ int64s }) => int64s),
    );
    t.equal(after?.replies[0]?.schema, after?.body?.contents[0]?.schema, 'equal schemas are one object');
    t.equal(JSON.stringify(finish({ ...read, ...contract }, {})), JSON.stringify(finish(read, {})));
  },
);
