import { readFileSync } from 'node:fs';
import t from 'tap';
import { buildDiagnose, diagnoseAll } from '../compiler.ts';

const read = (file: string) => readFileSync(new URL(`../../src/${file}.ts`, import.meta.url), 'utf8');
const GENERATED = read('generated/contract');
const DOMAIN = read('pets/domain');
const DESCRIPTION = read('contract-first/store/tables/description');

const compiler = buildDiagnose();

/** Compiles the domain once with each of these generated types, and returns the compiler's messages. */
function diagnose(types: string[], domain = DOMAIN): string[] {
  const texts = types.flatMap((text, index): [string, string][] => [
    [`src/generated/contract${index}.ts`, text],
    [
      `src/contract-first/store/tables/description${index}.ts`,
      DESCRIPTION.replace("'../../registered.ts'", `'../../../generated/contract${index}.ts'`),
    ],
    [
      `src/pets/domain${index}.ts`,
      domain.replace("'contract-first/store'", `'../contract-first/store/tables/description${index}.ts'`),
    ],
  ]);
  const domains = types.map((_, index) => `src/pets/domain${index}.ts`);
  return diagnoseAll(compiler, domains, Object.fromEntries(texts));
}

/** The generated types after edits of fields. */
function edited(...edits: [schema: 'NewPet' | 'Pet', field: RegExp, now: string][]): string {
  return edits.reduce((types, [schema, field, now]) => {
    const edit = types.replace(new RegExp(`(?<=\\n {8}${schema}: \\{)[^}]*(?=\\})`), (fields) =>
      fields.replace(field, now),
    );
    if (edit === types) throw new Error(`${schema} has no ${field}`);
    return edit;
  }, GENERATED);
}

const both = (field: RegExp, now: string) => edited(['NewPet', field, now], ['Pet', field, now]);

t.test('a domain.ts with a column for each field compiles, even if only the create requires a field', (t) => {
  t.strictSame(diagnose([GENERATED, edited(['NewPet', /status\?/, 'status'])]), ['', '']);
  t.end();
});

t.test('a domain.ts that lacks a column for a field, or gives it another type, is a compile error', (t) => {
  const end = /$/;
  const edits: [edit: string, types: string, said: RegExp][] = [
    ['an added field', both(end, 'nickname?: string;'), /nickname/],
    ['a field of stored pets only', edited(['Pet', end, 'nickname?: string;']), /nickname/],
    ['a removed field', both(/status.*/, ''), /status/],
    ['a renamed field', both(/categoryId/, 'kind'), /kind/],
    ['a field of another type', both(/(name: ).*/, '$1number;'), /"text".*"number"/],
    ['a field made optional', both(/categoryId/, 'categoryId?'), /isOptional/],
    ['a field made required', both(/status\?/, 'status'), /isOptional|true/],
    ['a field made required in stored pets only', edited(['Pet', /status\?/, 'status']), /isOptional|true/],
    ['a field that may be null', both(/(name: .*);/, '$1 | null;'), /isNullable/],
    [
      'a field that may be absent and null',
      both(/(status\?: .*);/, '$1 | null;'),
      /"text".*"json".*the field may be absent and may be null/,
    ],
    [
      'a field that becomes a list',
      both(/(name: ).*/, '$1string[];'),
      /"text".*"json".*an object, a list, or of several types/,
    ],
    ['any field', edited(['Pet', end, '[name: string]: unknown;']), /never/],
  ];
  const words = diagnose(edits.map(([, types]) => types));
  for (const [index, [edit, , said]] of edits.entries()) t.match(words[index], said, edit);
  t.end();
});

t.test('a nullable field compiles if its column in domain.ts has `isNullable: true`', (t) => {
  const kept = (from: string, to: string) => DOMAIN.replace(from, to);
  t.strictSame(
    diagnose(
      [both(/(name: .*);/, '$1 | null;')],
      kept("{ column: 'name', type: 'text'", "{ column: 'name', type: 'text', isNullable: true"),
    ),
    [''],
  );
  t.strictSame(
    diagnose(
      [both(/(status\?: .*);/, '$1 | null;')],
      kept("type: 'text', isOptional: true", "type: 'json', isOptional: true, isNullable: true"),
    ),
    [''],
  );
  t.end();
});

t.test('a field with any value compiles if its column is nullable JSON, and optional if the field is', (t) => {
  const column = (options: string) => DOMAIN.replace('columns: {', `columns: { extra: { type: 'json'${options} },`);
  const withField = (field: string) => [edited(['Pet', /$/, `${field}: unknown;`])];
  t.strictSame(diagnose(withField('extra'), column(', isNullable: true')), ['']);
  t.strictSame(diagnose(withField('extra?'), column(', isOptional: true, isNullable: true')), ['']);
  t.match(diagnose(withField('extra?'), column(', isNullable: true')), [/isOptional/]);
  t.match(diagnose(withField('extra'), column('')), [/isNullable/]);
  t.end();
});

t.test('if the store sets an integer id whose schema lacks `format: int64`, the domain.ts does not compile', (t) => {
  const types = [edited(['Pet', /id: .*;/, 'id: number;'])];
  t.match(diagnose(types, DOMAIN.replace("type: 'int64', set: 'id'", "type: 'int32', set: 'id'")), [/"id"/]);
  t.end();
});

t.test('a domain.ts with a filter on an unknown field, or with an undeclared error code, does not compile', (t) => {
  t.match(diagnose([GENERATED], DOMAIN.replace("equal: ['", "equal: ['colour', '")), [/colour/]);
  t.match(diagnose([GENERATED], DOMAIN.replace('pet_not_found:', 'pet_is_lost:')), [/pet_is_lost/]);
  t.end();
});
