import { readFileSync } from 'node:fs';
import t from 'tap';
import { buildDiagnose } from '../compiler.ts';

const TYPES = 'src/generated/contract.ts';
const GENERATED = readFileSync(new URL(`../../${TYPES}`, import.meta.url), 'utf8');
/** The tables of columns: all stores share one. */
const TABLES = ['src/store/columns.ts'];

const compiler = buildDiagnose();

/** What the compiler says of each table of columns, with these types in place of the contract's. */
function diagnose(types: string): string[] {
  const said = new Map(compiler(TABLES, { [TYPES]: types }));
  return TABLES.map((file) => said.get(file) ?? '');
}

/** The generated types, with the fields of a schema edited. */
function edited(...edits: [schema: 'NewPet' | 'Pet', field: RegExp, now: string][]): string {
  return edits.reduce((types, [schema, field, now]) => {
    const edit = types.replace(new RegExp(`(?<=\\n {8}${schema}: \\{)[^}]*(?=\\})`), (fields) =>
      fields.replace(field, now),
    );
    if (edit === types) throw new Error(`${schema} has no ${field}`);
    return edit;
  }, GENERATED);
}

t.test('a table that keeps every field of the contract compiles', async (t) => {
  for (const said of diagnose(GENERATED)) t.equal(said, '');
});

t.test('a field that a store would lose, or store as another type, does not compile', async (t) => {
  const end = /$/;
  const edits: [edit: string, types: string, said: RegExp][] = [
    ['an added field', edited(['NewPet', end, 'nickname?: string;'], ['Pet', end, 'nickname?: string;']), /nickname/],
    ['a field of new pets only', edited(['NewPet', end, 'nickname?: string;']), /nickname/],
    ['a field of stored pets only', edited(['Pet', end, 'nickname?: string;']), /nickname/],
    ['a removed field', edited(['NewPet', /status.*/, ''], ['Pet', /status.*/, '']), /status/],
    ['a renamed field', edited(['NewPet', /categoryId/, 'kind'], ['Pet', /categoryId/, 'kind']), /kind/],
    [
      'a field of another type',
      edited(['NewPet', /(name: ).*/, '$1number;'], ['Pet', /(name: ).*/, '$1number;']),
      /never/,
    ],
    [
      'a field made optional',
      edited(['NewPet', /categoryId/, 'categoryId?'], ['Pet', /categoryId/, 'categoryId?']),
      /false/,
    ],
    ['a field made required', edited(['NewPet', /status\?/, 'status']), /true/],
    ['any field', edited(['NewPet', end, '[name: string]: unknown;']), /never/],
  ];
  for (const [edit, types, said] of edits) {
    for (const words of diagnose(types)) t.match(words, said, edit);
  }
});
