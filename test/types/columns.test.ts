import { readFileSync } from 'node:fs';
import t from 'tap';
import { buildDiagnose } from '../compiler.ts';

const read = (file: string) => readFileSync(new URL(`../../src/${file}.ts`, import.meta.url), 'utf8');
const GENERATED = read('generated/contract');
/** What is between the types and the table of columns, which all stores share. */
const STORE = ['store/store', 'store/fields', 'store/columns'];

const compiler = buildDiagnose();

/** What the compiler says of the table of columns with each of these types in place of the contract's, in one run. */
function diagnose(types: string[]): string[] {
  const texts = types.flatMap((text, index) => {
    const numbered = (source: string) => source.replace(/\/(contract|store|fields)\.ts'/g, `/$1${index}.ts'`);
    const parts = STORE.map((file): [string, string] => [`src/${file}${index}.ts`, numbered(read(file))]);
    return [[`src/generated/contract${index}.ts`, text] as [string, string], ...parts];
  });
  const tables = types.map((_, index) => `src/store/columns${index}.ts`);
  const said = new Map(compiler(tables, Object.fromEntries(texts)));
  return tables.map((file) => said.get(file) ?? '');
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
  t.strictSame(diagnose([GENERATED]), ['']);
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
  const words = diagnose(edits.map(([, types]) => types));
  for (const [index, [edit, , said]] of edits.entries()) t.match(words[index], said, edit);
});
