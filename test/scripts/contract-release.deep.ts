import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { SOURCE } from '../edited-contract.ts';
import { NODE_ARGS } from '../program.ts';

/** Runs a script of `npm run` with these files, with the same loader as this test. */
function run(script: string, ...files: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...NODE_ARGS, `scripts/${script}.ts`, ...files], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

t.test('npm run contract:release saves the contract byte for byte, and each version once', async (t) => {
  const folder = t.testdir({ 'petstore.yaml': SOURCE, released: {} });
  const files = [`${folder}/petstore.yaml`, `${folder}/released`];
  t.match(run('contract-release', ...files), { status: 0, stdout: /^Released: .*\/1\.0\.0\.yaml$/m });
  t.equal(readFileSync(`${folder}/released/1.0.0.yaml`, 'utf8'), SOURCE);
  t.match(run('contract-release', ...files), { status: 1, stderr: /^1\.0\.0 is released already/ });
});
