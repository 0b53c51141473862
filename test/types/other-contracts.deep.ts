import { readFileSync } from 'node:fs';
import t from 'tap';
import { buildTypes } from '../../scripts/contract-types.ts';
import { buildErrorsFile } from '../../scripts/contract-use/errors-file.ts';
import { toHandler } from '../../scripts/contract-use/placing.ts';
import { buildHandlersMap } from '../../scripts/handlers-map.ts';
import { load } from '../added-operations.ts';
import { buildDiagnose } from '../compiler.ts';
import { changed, OTHERS } from '../other-contracts.ts';

/** What the types of a contract are seen by. */
const TYPED = [
  'src/generated/handlers.ts',
  'src/engine/errors.ts',
  'src/errors.ts',
  'src/pets/domain.ts',
  'src/engine/routes/handler.ts',
];

/** As if it were left behind: whose contract it is may have a `Pet` of their own. */
const LEFT_BEHIND = readFileSync('src/pets/domain.ts', 'utf8').replace(/(?<=')(?=(New)?Pet')/g, 'Absent');

t.test('the handlers that are made for them compile, and so does the server', async (t) => {
  const diagnose = buildDiagnose({ noUnusedLocals: false });
  for (const name of Object.keys(OTHERS)) {
    const contract = await load(t, changed(name));
    const ids = [...contract.operations.keys()];
    const texts = {
      ...Object.fromEntries(ids.map((id) => [`handlers/${id}.ts`, toHandler(id)])),
      'src/generated/contract.ts': (await buildTypes(contract.document)).text,
      'src/generated/handlers.ts': buildHandlersMap(contract).text,
      'src/pets/domain.ts': LEFT_BEHIND,
      'src/errors.ts': buildErrorsFile(contract),
    };
    const files = [...ids.map((id) => `handlers/${id}.ts`), ...TYPED];
    t.strictSame([...diagnose(files, texts)], [], name);
  }
});
