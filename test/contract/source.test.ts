import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { keepSource, readSource } from '../../src/contract/source.ts';

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
