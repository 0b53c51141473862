import t from 'tap';
import { parse } from 'yaml';
import { allErrorCodes, errorKindOf } from '../../../src/contract-first/engine/errors/catalogue.ts';
// Its codes are in the catalogue, too.
import '../../../src/generated/domain.ts';
import { CONTRACT } from '../../properties/operations.ts';

t.test("the contract's list of codes is the catalogue's", async (t) => {
  const { ErrorCode } = parse(CONTRACT).components.schemas;
  t.strictSame(ErrorCode['x-extensible-enum'].toSorted(), allErrorCodes().sort());
});

t.test("the contract's table of codes is the catalogue's", async (t) => {
  const { description } = parse(CONTRACT).info;
  const own = description.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm);
  const general = description.matchAll(/`(\w+)`\s(\d{3})[,.]/g);
  const rows = [...own, ...general].map(([, code, status]) => [code, Number(status)]);
  t.strictSame(
    rows.sort(),
    allErrorCodes()
      .map((code) => [code, errorKindOf(code).status])
      .sort(),
  );
});
