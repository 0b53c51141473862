import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkDigest } from '../../../src/engine/contract/digest.ts';
import { loadContract } from '../../../src/engine/contract/load-contract.ts';
import { CONTRACT_DIGEST } from '../../../src/generated/handlers.ts';

const YAML = readFileSync(new URL('../../../openapi/petstore.yaml', import.meta.url), 'utf8');

t.test('a program starts with the contract that it is built for, and with no other', async (t) => {
  const file = join(t.testdir(), 'petstore.yaml');
  const load = (yaml: string) => {
    writeFileSync(file, yaml);
    return loadContract(file);
  };
  checkDigest(await loadContract(), CONTRACT_DIGEST);
  checkDigest(await load(`# A comment is no change.\n${YAML.replaceAll('\n', '\r\n')}`), CONTRACT_DIGEST);
  const edited = await load(YAML.replace(/maximum: 100$/m, 'maximum: 101'));
  t.throws(() => checkDigest(edited, CONTRACT_DIGEST), {
    name: 'ContractError',
    problems: ['it has changed since this program was built: run `npm run generate`, and build again'],
  });
});
