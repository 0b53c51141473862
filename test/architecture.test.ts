import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Every TypeScript file below a folder, from the project's root. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name).split(sep).join('/'))
    .filter((name) => name.endsWith('.ts'));
}

/** The project's own files that a file imports, types too. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path]) =>
    relative(ROOT, join(ROOT, dirname(file), path as string)),
  );
}

/** What each file may import: the first row that fits it counts. */
const ARROWS: [files: RegExp, mayImport: RegExp][] = [
  [/^handlers\//, /^src\/(handler|errors|pagination)\.ts$/],
  [/^src\/main\.ts$/, /^src\/(api-keys|config|contract|operations|server|workers|store\/open-store|store\/store)\.ts$/],
  [/^src\/store\//, /^src\/(store\/.*|errors|json-text|generated\/contract)\.ts$/],
  [/^src\/(int64|exact-json|json-text|config|generated\/contract)\.ts$/, /^$/],
  [/^src\/errors\.ts$/, /^src\/generated\/contract\.ts$/],
  [/^src\/contract\.ts$/, /^src\/int64\.ts$/],
  [/^src\/api-keys\.ts$/, /^src\/store\/store\.ts$/],
  [/^src\/handler\.ts$/, /^src\/(json-text|generated\/contract|store\/store)\.ts$/],
  [/^src\//, /^src\/(?!main|store\/(?!store\.ts))/],
];

t.test('imports follow the arrows', async (t) => {
  for (const file of [...filesBelow('src'), ...filesBelow('handlers')]) {
    const [, mayImport] = ARROWS.find(([files]) => files.test(file)) as [RegExp, RegExp];
    for (const imported of importsOf(file)) t.match(imported, mayImport, `${file} may import ${imported}`);
  }
});

t.test('only the configuration reads the environment', async (t) => {
  const readers = [...filesBelow('src'), ...filesBelow('handlers')].filter((file) =>
    /process\.env/.test(readFileSync(join(ROOT, file), 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '')),
  );
  t.strictSame(readers, ['src/main.ts']);
});

t.test('SQL is written in the store only', async (t) => {
  for (const file of [...filesBelow('src'), ...filesBelow('handlers')].filter(
    (name) => !name.startsWith('src/store/'),
  )) {
    t.notMatch(readFileSync(join(ROOT, file), 'utf8'), /\b(SELECT|INSERT INTO|UPDATE|PRAGMA)\b/, file);
  }
});

t.test('each operation has a test of its handler', async (t) => {
  const names = (folder: string) =>
    filesBelow(folder)
      .map((file) => file.replace(/.*\/|(\.test)?\.ts$/g, ''))
      .sort();
  t.strictSame(names('test/operations'), names('handlers'));
});
