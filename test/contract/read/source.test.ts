import { join } from 'node:path';
import t from 'tap';
import { readSource } from '../../../src/contract-first/contract/read/source.ts';

t.test('a contract in JSON is read as the same in YAML', async (t) => {
  const text = '{"large": 9007199254740993, "one": 1.0, "tiny": 1e-9, "__proto__": {"a": [null, true, "\\u00e9"]}}';
  const folder = t.testdir({ 'contract.json': text, 'contract.yaml': `--- ${text}`, 'twice.json': '{"a": 1, "a": 2}' });
  const { json } = await readSource(join(folder, 'contract.json'));
  t.equal(json, '{"large":9007199254740993,"one":1,"tiny":1e-9,"__proto__":{"a":[null,true,"é"]}}');
  t.equal((await readSource(join(folder, 'contract.yaml'))).json, json);
  await t.rejects(readSource(join(folder, 'twice.json')), { message: /Map keys must be unique/ });
});
