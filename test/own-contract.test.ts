/** The contract of a service that runs from its sources: nothing was built. */
import { copyFileSync, existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { toErrorBody } from '../src/engine/error-body.ts';
import { domain } from '../src/generated/domain.ts';
import { handlers } from '../src/generated/handlers.ts';
import { loadOwnContract, loadShapes, toFinishedFile } from '../src/own-contract.ts';

t.test('a contract that no build has finished is checked and finished when it is loaded', async (t) => {
  const folder = t.testdir({ openapi: {} });
  const contract = pathToFileURL(`${folder}/openapi/petstore.yaml`);
  copyFileSync(new URL('../openapi/petstore.yaml', import.meta.url), contract);
  const { operations } = await loadOwnContract({ contract, toErrorBody, domain, handlers });
  t.strictSame([...operations.keys()], ['listPets', 'createPet', 'getPet']);
  const { pets } = await loadShapes(contract, domain);
  t.match(pets.check({ id: 1n, name: 'Rex' }), [/categoryId/]);
  t.notOk(existsSync(toFinishedFile(contract)), 'only a build writes it');

  const wrong = () => ({ code: 1 }) as never;
  await t.rejects(loadOwnContract({ contract, toErrorBody: wrong, domain, handlers }), {
    name: 'ContractError',
    message: /petstore\.yaml:\d+:\d+: operation listPets: response 400: what toErrorBody in src\/errors\.ts makes of/,
  });
  await t.rejects(loadOwnContract({ contract, toErrorBody, domain, handlers: {} }), {
    message: /operation listPets has no handlers\/listPets\.ts/,
  });
});
