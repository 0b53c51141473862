import { join } from 'node:path';
import t from 'tap';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { edited } from '../../edited-contract.ts';
import { send, startService } from '../../service.ts';

t.test('a refusal has its body also where the contract declares no such reply', async (t) => {
  const yaml = edited(({ listPets }) => {
    delete listPets.responses['400'];
    delete listPets.responses.default;
  });
  const file = join(t.testdir({ 'petstore.yaml': yaml }), 'petstore.yaml');
  const { port } = await startService(t, { contract: await loadContract(file), yaml });
  const { status, headers, text } = await send(port, '/v1/pets?limit=0');
  t.equal(status, 400);
  t.match(headers['content-type'], /^application\/json/);
  const message = 'query.limit must be at least 1';
  t.strictSame(JSON.parse(text), {
    ...{ code: 'invalid_request', message, status: 400 },
    problems: [{ in: 'query', place: 'limit', code: 'minimum', message }],
  });
});
