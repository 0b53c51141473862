import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';

const PACKAGE = new URL('../src/contract-first/', import.meta.url);

/** The source code of the package, by file path. */
const CODE = new Map(
  readdirSync(PACKAGE, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /(?<!\.d)\.[jt]s$/.test(file) && !/^(dist|node_modules|cli\/template)\//.test(file))
    .map((file) => [file, readFileSync(new URL(file, PACKAGE), 'utf8')]),
);

/** Matches an exported function, class, type or constant, and an exported destructuring of several constants. */
const EXPORTED =
  /^export (?:async |abstract )?(?:(?:function\*?|class|interface|type|const|let) ([\w$]+)|const [{[]([^}\]]*)[}\]])/gm;

/** For each exported name, the files that declare it. Overloads of a function count once. */
const FILES_OF = new Map<string, string[]>();
for (const [file, text] of CODE) {
  const names = [...text.matchAll(EXPORTED)].flatMap(([, name, pattern = '']) =>
    name ? [name] : pattern.split(',').map((part) => part.replace(/.*:/, '').trim()),
  );
  for (const name of new Set(names)) FILES_OF.set(name, [...(FILES_OF.get(name) ?? []), file]);
}

/** Names that two files export with different meanings, and the reason. */
const SHARED: Record<string, string> = {
  OpenOperation: 'cli/generate writes it into a service, where registered.ts reads it',
  toErrorBody: 'cli/scaffold writes it into a service, in place of the usual one',
};

const countIn = (files: string[], folder: string) => files.filter((file) => file.startsWith(folder)).length;

/** Counts the meanings of a name. If both `store/sqlite` and `store/postgres` export it, these two count as one. */
const countMeanings = (files: string[]) =>
  files.length - Math.min(countIn(files, 'store/sqlite/'), countIn(files, 'store/postgres/'));

t.test('no two files of the package export the same name with different meanings', async (t) => {
  t.ok(FILES_OF.size > 500, 'the search finds the exported names');
  for (const [name, files] of FILES_OF)
    t.equal(countMeanings(files), name in SHARED ? 2 : 1, `${name}: ${files.join(', ')}`);
});

/** The allowed names with "refuse": error replies of handlers, refused changes of the store, and helpers for both. */
const REFUSING = /^(refuse|refuseAt|Refused|RefusedUnlessNever|Refusal|isRefused|refusalCodeOf)$/;

/** Matches declarations of functions, methods, classes and types, exported or not. */
const DECLARED =
  /\b(?:function\*?|class|interface|type) (\w+)|^ +(?:async )?\*?#?(\w+)\(.*\{$|\bconst (\w+) = (?:async )?\(/gm;

t.test(
  'only replies of handlers and changes of the store have names with "refused"; other code reports, checks or rejects',
  async (t) => {
    for (const [file, text] of CODE) {
      for (const [, ...found] of text.matchAll(DECLARED)) {
        const name = found.find((one) => one !== undefined) as string;
        if (/refus/i.test(name)) t.match(name, REFUSING, file);
      }
    }
  },
);
