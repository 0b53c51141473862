/** The contract and the handlers of the lockers' service. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadContract } from '../../src/contract-first/contract/read/load-contract.ts';
import { refuse } from '../../src/contract-first/engine/index.ts';
import { isRefused } from '../../src/contract-first/store/collection.ts';
import { operation, withPaths } from '../added-operations.ts';
import type { Json } from '../any-json.ts';
import { withRecordsOf } from '../service.ts';
import { domain } from './domain.ts';

const STRING = { type: 'string', maxLength: 40, pattern: '^[^\\x00]*$' };
const INT64 = { type: 'integer', format: 'int64' };
const content = (schema: Json) => ({ content: { 'application/json': { schema } } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const object = (properties: Json, required: string[]) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});

export const YAML = withPaths(
  {
    '/lockers': {
      post: operation('createLocker', {
        requestBody: content(object({ place: STRING, note: STRING }, ['place'])),
        responses: { '201': content(ref('Locker')) },
      }),
      get: operation('listLockers', {
        responses: { '200': content({ type: 'array', items: ref('Locker') }) },
      }),
    },
    '/lockers/{lockerId}': {
      get: operation('getLocker', {
        parameters: [{ name: 'lockerId', in: 'path', required: true, schema: INT64 }],
        responses: { '200': content(ref('Locker')) },
      }),
    },
    '/openings': {
      post: operation('openLocker', {
        requestBody: content(object({ code: STRING }, ['code'])),
        // The schema allows any field, so no check would refuse a reply with a field that clients must not see.
        responses: { '200': content({ type: 'object' }) },
      }),
    },
  },
  ({ components }) => {
    components.schemas.Locker = object({ id: INT64, place: STRING, note: STRING }, ['id', 'place']);
    components.schemas.Rule = object({ words: STRING, note: STRING }, ['words']);
    components.schemas.Parcel = object({ number: STRING, size: STRING, revision: INT64 }, [
      'number',
      'size',
      'revision',
    ]);
  },
);

export async function loadLockers() {
  const folder = mkdtempSync(join(tmpdir(), 'lockers-'));
  try {
    const file = join(folder, 'petstore.yaml');
    writeFileSync(file, YAML);
    return withRecordsOf(await loadContract(file), domain);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * The handlers pass records on as they are: if clients got more than the contract declares, they would see internal
 * columns.
 */
export const HANDLERS = {
  createLocker: async ({ body, lockers }: Json) => ({ status: 201, body: await lockers.create(body) }),
  getLocker: async ({ params, lockers }: Json) => ({ status: 200, body: await lockers.get(params.lockerId) }),
  listLockers: async ({ lockers }: Json) => {
    const { page } = await lockers.see(1n);
    return { status: 200, ...page };
  },
  openLocker: async ({ body, lockers }: Json) => {
    const opened = await lockers.open(body.code);
    return isRefused(opened as unknown) ? refuse('conflict', 'The code is not valid.') : { status: 200, body: opened };
  },
};
