import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { CATALOGUE } from '../../src/http/errors.ts';
import { CONTRACT } from '../properties/operations.ts';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

t.test("the contract's list of codes is the catalogue's", async (t) => {
  const { ErrorCode } = parse(CONTRACT).components.schemas;
  t.strictSame(ErrorCode['x-extensible-enum'], Object.keys(CATALOGUE));
});

t.test("the README's table of codes is the catalogue's", async (t) => {
  const rows = [...README.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [code, Number(status)]);
  t.strictSame(
    rows,
    Object.entries(CATALOGUE).map(([code, { status }]) => [code, status]),
  );
});
