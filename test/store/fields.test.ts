import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TYPES = `${ROOT}src/generated/contract.ts`;
/** What the stores that there are keep of a pet. */
const TABLES = [`${ROOT}src/store/sqlite/columns.ts`];

/** The files that are the same in each run. */
const sources = new Map<string, ts.SourceFile | undefined>();

/** What the compiler says of each store's table of columns, with these types in place of the contract's. */
function diagnose(types: string): string[] {
  const config = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (file, language) => {
    if (file === TYPES) return ts.createSourceFile(file, types, language);
    if (!sources.has(file)) sources.set(file, getSourceFile(file, language));
    return sources.get(file);
  };
  const program = ts.createProgram(TABLES, options, host);
  return TABLES.map((file) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
      .join(' '),
  );
}

/** The generated types, with the fields of a schema edited. */
function edited(...edits: [schema: 'NewPet' | 'Pet', field: RegExp, now: string][]): string {
  return edits.reduce(
    (types, [schema, field, now]) => {
      const edit = types.replace(new RegExp(`(?<=\\n {8}${schema}: \\{)[^}]*(?=\\})`), (fields) =>
        fields.replace(field, now),
      );
      if (edit === types) throw new Error(`${schema} has no ${field}`);
      return edit;
    },
    readFileSync(TYPES, 'utf8'),
  );
}

t.test('a table that keeps every field of the contract compiles', async (t) => {
  for (const said of diagnose(readFileSync(TYPES, 'utf8'))) t.equal(said, '');
});

t.test('a field that a store would lose, or keep as what it is not, does not compile in any store', async (t) => {
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
