import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { CONTRACT_FILE, loadContract } from '../../../src/engine/contract/load-contract.ts';
import { whileTrusted } from '../../../src/engine/contract/validity.ts';
import { CONTRACT_DIGEST } from '../../../src/generated/handlers.ts';
import { startService } from '../../service.ts';

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

t.test(
  'what fastify-openapi-glue validates once more passes at once, and nothing does that others validate',
  async (t) => {
    const validator = new Validator();
    await whileTrusted(async () => {
      t.strictSame(await validator.validate(INVALID), { valid: true });
      t.equal(validator.version, '3.1');
    });
    t.match(await validator.validate(INVALID), { valid: false });
  },
);
