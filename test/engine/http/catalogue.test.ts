import t from 'tap';
import { parse } from 'yaml';
import { buildCatalogue } from '../../../src/contract-first/engine/errors/catalogue.ts';
import { domain } from '../../../src/generated/domain.ts';
import { CONTRACT } from '../../properties/operations.ts';

const CATALOGUE = buildCatalogue(domain);

t.test("the error codes in the contract's schema are exactly the codes that the server can send", async (t) => {
  const { ErrorCode } = parse(CONTRACT).components.schemas;
  t.strictSame(ErrorCode['x-extensible-enum'].toSorted(), Object.keys(CATALOGUE).sort());
});

t.test("the contract's description lists the same error codes and statuses as the server's catalogue", async (t) => {
  const { description } = parse(CONTRACT).info;
  const own = description.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm);
  const general = description.matchAll(/`(\w+)`\s(\d{3})[,.]/g);
  const rows = [...own, ...general].map(([, code, status]) => [code, Number(status)]);
  t.strictSame(
    rows.sort(),
    Object.entries(CATALOGUE)
      .map(([code, { status }]) => [code, status])
      .sort(),
  );
});
