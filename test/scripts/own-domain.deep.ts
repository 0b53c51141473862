/** A team tests the operations of its own domain by the package's entry for tests. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { FILES, YAML } from '../orders/service.ts';
import { NODE_ARGS } from '../program.ts';
import { copyProject, generate } from './project-copy.ts';

const TEST = `import t from 'tap';
import { openTestServer } from 'contract-first/test';
import { service } from '../../src/generated/service.ts';

t.test('an order sells its pet', async (t) => {
  const { client } = await openTestServer(t, service);
  const { body: pet } = await client.createPet({ body: { name: 'Rex', categoryId: 7n, status: 'available' } });
  t.match(await client.placeOrder({ body: { petId: pet.id, price: 5n } }), { status: 201, body: { price: 5n } });
  t.match(await client.placeOrder({ body: { petId: pet.id, price: 5n } }), { status: 409 });
});
`;

t.test(
  'openTestServer serves the operations of another domain, with its transactions and before its first release',
  async (t) => {
    const folder = copyProject(t, YAML);
    rmSync(join(folder, 'openapi/released'), { recursive: true });
    for (const [name, text] of Object.entries({ ...FILES, 'test/operations/placeOrder.test.ts': TEST })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    t.match(generate(folder), { status: 0 });
    const env = { ...process.env, NODE_V8_COVERAGE: '', TAP_CHILD_ID: '' };
    const args = [...NODE_ARGS, 'test/operations/placeOrder.test.ts'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env });
    t.equal(status, 0, { stdout, stderr });
  },
);
