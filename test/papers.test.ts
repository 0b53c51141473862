/**
 * Checks the documentation: its links, that the package's pages link only to files of the tarball, and LIBRARIES.md.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGE = 'src/contract-first';
const FOLDERS = ['', '.github', 'handlers', 'openapi', 'scripts', 'src'];

const PAPERS = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: folder !== '', encoding: 'utf8' }).map((name) => join(folder, name)),
).filter((name) => name.endsWith('.md') && !name.startsWith(`${PACKAGE}/dist/`));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** Returns the links of a page to files of the project, as paths from its root, each with its `#heading`. */
function linksOf(paper: string): { file: string; heading: string | undefined; text: string }[] {
  const links = [...read(paper).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
  return links.map(([text, path = '', heading]) => ({
    file: path === '' ? paper : join(dirname(paper), path),
    heading,
    text: `${paper}: ${text}`,
  }));
}

/** Returns the ids that GitHub gives to the headings of a page. */
const headingsOf = (paper: string) =>
  [...read(paper).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

t.test('each link of the documentation leads to an existing file and heading', async (t) => {
  for (const { file, heading, text } of PAPERS.flatMap(linksOf)) {
    t.ok(existsSync(join(ROOT, file)), text);
    if (heading !== undefined) t.ok(headingsOf(file).includes(heading), text);
  }
});

t.test('the documentation pages of the package link only to files of its tarball', async (t) => {
  const { files } = JSON.parse(read(join(PACKAGE, 'package.json'))) as { files: string[] };
  const shipped = ['README.md', ...files].map((name) => join(PACKAGE, name));
  const isShipped = (file: string) => shipped.some((place) => file === place || file.startsWith(`${place}/`));
  const pages = PAPERS.filter(isShipped);
  t.ok(pages.length > 5);
  for (const { file, text } of pages.flatMap(linksOf)) t.ok(isShipped(file), text);
});

t.test('LIBRARIES.md lists each direct dependency once, and nothing else', (t) => {
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
