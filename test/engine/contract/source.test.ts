import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { keepSource, readSource } from '../../../src/engine/contract/source.ts';

t.test('what a build has kept of the contract counts for the same text only', async (t) => {
  const folder = t.testdir({ 'petstore.yaml': 'large: 9007199254740993\n' });
  const [file, kept] = [join(folder, 'petstore.yaml'), join(folder, 'contract.json')];
  const { yaml, json } = await readSource(file, kept);
  t.equal(yaml.toString(), 'large: 9007199254740993\n');
  t.equal(json, '{"large":9007199254740993}');

  await keepSource(file, kept);
  writeFileSync(kept, readFileSync(kept, 'utf8').replace('large', 'Large'));
  t.equal((await readSource(file, kept)).json, '{"Large":9007199254740993}', 'it is not parsed again');

  writeFileSync(file, '# the same, with another comment\nlarge: 9007199254740993\n');
  t.equal((await readSource(file, kept)).json, json);
});

t.test('a contract in JSON is read as the same in YAML', async (t) => {
  const text = '{"large": 9007199254740993, "one": 1.0, "tiny": 1e-9, "__proto__": {"a": [null, true, "\\u00e9"]}}';
  const folder = t.testdir({ 'contract.json': text, 'contract.yaml': `--- ${text}`, 'twice.json': '{"a": 1, "a": 2}' });
  const { json } = await readSource(join(folder, 'contract.json'), '');
  t.equal(json, '{"large":9007199254740993,"one":1,"tiny":1e-9,"__proto__":{"a":[null,true,"é"]}}');
  t.equal((await readSource(join(folder, 'contract.yaml'), '')).json, json);
  await t.rejects(readSource(join(folder, 'twice.json'), ''), { message: /Map keys must be unique/ });
});
