import t from 'tap';
import { parse } from 'yaml';
import { CATALOGUE } from '../../../src/engine/http/errors.ts';
import { CONTRACT } from '../../properties/operations.ts';

t.test("the contract's list of codes is the catalogue's", async (t) => {
  const { ErrorCode } = parse(CONTRACT).components.schemas;
  t.strictSame(ErrorCode['x-extensible-enum'].toSorted(), Object.keys(CATALOGUE).sort());
});

t.test("the contract's table of codes is the catalogue's", async (t) => {
  const { description } = parse(CONTRACT).info;
  const rows = [...description.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ]);
  t.strictSame(
    rows.sort(),
    Object.entries(CATALOGUE)
      .map(([code, { status }]) => [code, status])
      .sort(),
  );
});
