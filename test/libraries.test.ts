/** The table of libraries, beside what both package.json files name. */
import { readFileSync } from 'node:fs';
import t from 'tap';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

t.test('the table of libraries names each direct package once, and no other', (t) => {
  const [tables = ''] = read('.github/LIBRARIES.md').split('## By hand');
  const cells = [...tables.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell]) => cell as string);
  const listed = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  const direct = ['package.json', 'src/contract-first/package.json'].flatMap((path) => {
    const { dependencies, devDependencies } = JSON.parse(read(path));
    return Object.keys({ ...dependencies, ...devDependencies });
  });
  t.strictSame(listed.sort(), [...new Set(direct)].sort());
  t.end();
});
