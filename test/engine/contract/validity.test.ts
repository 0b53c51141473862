import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import t from 'tap';
import type { Contract } from '../../../src/engine/contract/contract.ts';
import { CONTRACT_FILE, loadContract } from '../../../src/engine/contract/load-contract.ts';
import { CONTRACT_DIGEST } from '../../../src/generated/handlers.ts';
import { loadOurs, startService } from '../../service.ts';

const INVALID = {
  openapi: '3.1.0',
  info: { title: 'A tag is no text', version: '1' },
  paths: { '/a': { get: { tags: [1] } } },
};

t.test('only the contract that was checked when the program was built is not checked again', async (t) => {
  const contract = await loadContract(CONTRACT_FILE, CONTRACT_DIGEST);
  t.equal(contract.isChecked, true);
  t.equal((await loadContract()).isChecked, false);
  const { request } = await startService(t, { contract });
  t.equal((await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } })).status, 201);
  t.equal((await request('/v1/pets', { method: 'POST', body: { name: 'Rex' } })).status, 400);
  t.equal((await request('/v1/pets')).status, 200);

  const file = join(t.testdir({ 'invalid.yaml': JSON.stringify(INVALID) }), 'invalid.yaml');
  await t.rejects(loadContract(file, CONTRACT_DIGEST), { message: /\/paths\/~1a\/get\/tags\/0 must be string/ });
});

t.test('while routes are registered, every other validator of the process goes on checking', async (t) => {
  const { contract } = await loadOurs();
  const validator = new Validator();
  const found: Promise<{ valid: boolean }>[] = [];
  const check = () => void found.push(validator.validate({ openapi: '3.1.1', nonsense: 1 }));
  let isOver = false;
  const checkOnAndOn = () => {
    if (found.length < 100) check();
    if (!isOver) setImmediate(checkOnAndOn);
  };
  checkOnAndOn();
  // fastify-openapi-glue would refuse it, and compile OpenAPI's schema at each start, only to check again what the build has checked.
  const unchecked = { ...contract, document: { ...contract.document, info: 7 } } as unknown as Contract;
  const addPlugins = async (app: FastifyInstance) => void app.addHook('onRoute', check);
  const { request } = await startService(t, { contract: unchecked, addPlugins });
  isOver = true;
  t.equal((await request('/v1/pets')).status, 200);
  const results = await Promise.all(found);
  t.ok(results.length > 3 && results.every(({ valid }) => !valid), `${results.length} checks`);
});
