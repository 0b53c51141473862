import { readFileSync } from 'node:fs';
import t from 'tap';
import { buildTypes } from '../../src/contract-first/cli/contract-types.ts';
import { buildHandlersMap } from '../../src/contract-first/cli/service-files.ts';
import { load } from '../added-operations.ts';
import { buildDiagnose } from '../compiler.ts';
import { changed, OTHERS } from '../other-contracts.ts';

/** What the types of a contract are seen by. */
const TYPED = [
  'src/generated/handlers.ts',
  'src/contract-first/engine/errors.ts',
  'src/errors.ts',
  'src/pets/domain.ts',
  'src/contract-first/engine/routes/handler.ts',
];

const toHandler = (id: string) => `import { handle, notImplemented } from 'contract-first';
export default handle('${id}', notImplemented);
`;

/** As if it were left behind: whose contract it is may have a `Pet` of their own. */
const LEFT_BEHIND = readFileSync('src/pets/domain.ts', 'utf8').replace(/(?<=')(?=(New)?Pet')/g, 'Absent');

t.test('handlers that answer 501 compile, and so does the server', async (t) => {
  const diagnose = buildDiagnose({ noUnusedLocals: false });
  for (const [name, { toErrorBody }] of Object.entries(OTHERS)) {
    const contract = await load(t, changed(name));
    const ids = [...contract.operations.keys()];
    const texts = {
      ...Object.fromEntries(ids.map((id) => [`handlers/${id}.ts`, toHandler(id)])),
      'src/generated/contract.ts': (await buildTypes(contract.document)).text,
      'src/generated/handlers.ts': buildHandlersMap(contract).text,
      'src/pets/domain.ts': LEFT_BEHIND,
      'src/errors.ts': `import type { ToErrorBody } from './contract-first/engine/error-body.ts';\nexport const toErrorBody: ToErrorBody = ${toErrorBody};\n`,
    };
    const files = [...ids.map((id) => `handlers/${id}.ts`), ...TYPED];
    t.strictSame([...diagnose(files, texts)], [], name);
  }
});
