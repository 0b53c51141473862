/** Serves the contract: as it is written in YAML, as JSON without loss, as a page to read, and with Swagger UI to try. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Contract } from '../contract/contract.ts';
import { toRoutePath } from '../contract/path-names.ts';
import { addDocument, buildSendDocument, UNLISTED } from './documents.ts';
import { fill, pageValues } from './filled.ts';
import { html } from './html.ts';

/**
 * The headers that OWASP recommends for HTML, added to those of every reply. The page loads nothing from other sites, and contains no
 * inline script or style. No `upgrade-insecure-requests`: it would leave the page blank on plain HTTP.
 */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/** The files of Swagger UI that the page loads. */
const SWAGGER_UI = new URL('static/', import.meta.resolve('@fastify/swagger-ui'));
const SWAGGER_UI_FILES = ['swagger-ui-bundle.js', 'favicon-32x32.png'];

/** Our files for the browser. `form.html` is the page of Swagger UI, without its bar and contents. */
const ADDITIONS = new URL('assets/', import.meta.url);
const OWN_FILES = [
  ...['page.css', 'key.js', 'requests.js', 'figures.js', 'contents.js'],
  ...['reference.js', 'send.js', 'form.css', 'form.js'],
];

const MEDIA_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.yaml': 'application/yaml',
  '.json': 'application/json; charset=utf-8',
};

const CONTRACTS = ['openapi.yaml', 'openapi.json'];

/** The folder of the contract's two files below `prefix`: `/docs` if an operation takes the path of one of them, otherwise empty. */
export function contractFolder({ operations, ...contract }: Contract, prefix: string): '' | '/docs' {
  const taken = CONTRACTS.map((name) => `${prefix}/${name}`);
  const isTaken = [...operations.values()].some(({ path }) => taken.includes(contract.prefix + toRoutePath(path)));
  return isTaken ? '/docs' : '';
}

/** Below `prefix`, such as `/internal`. Links are relative, so that the pages work below any path that a proxy strips. */
export function addDocs(app: FastifyInstance, contract: Contract, prefix: string, clients?: URL): void {
  const add = (path: string, body: Buffer, headers: object = PAGE_HEADERS) => {
    const type = MEDIA_TYPES[extname(path)] as string;
    addDocument(app, prefix + path, { 'content-type': type, ...headers }, async () => ({ body }));
  };
  const folder = contractFolder(contract, app.prefix.replaceAll('::', ':').replace(/\/$/, '') + prefix);
  add(`${folder}/openapi.yaml`, contract.yaml, {});
  add(`${folder}/openapi.json`, Buffer.from(contract.json), {});
  const headers = { 'content-type': 'text/html; charset=utf-8', ...PAGE_HEADERS };
  addDocument(app, `${prefix}/docs`, headers, (root) => loadFilled(contract, root, folder));
  // An app that ignores trailing slashes takes both for one route.
  if (!ignoresTrailingSlash(app))
    addDocument(app, `${prefix}/docs/`, headers, (root) => loadFilled(contract, root, folder));
  addDocument(app, `${prefix}/docs/try`, headers, () => loadForm(contract, folder));
  if (clients) addClients(app, `${prefix}/docs/clients/*`, clients);
  for (const name of SWAGGER_UI_FILES) add(`/docs/static/${name}`, readFileSync(new URL(name, SWAGGER_UI)));
  for (const name of OWN_FILES) add(`/docs/static/${name}`, readFileSync(new URL(name, ADDITIONS)));
}

const ignoresTrailingSlash = ({ initialConfig }: FastifyInstance): boolean =>
  (initialConfig.routerOptions ?? initialConfig).ignoreTrailingSlash === true;

/** The page as the build made it, if all its values are the same at this start: then it is already compressed. */
async function loadFilled(contract: Contract, root: string, folder: string) {
  const made = await contract.loadPage();
  const text = (await promisify(brotliDecompress)(made)).toString();
  // In tags alone: samples and texts of the contract have no < that is not escaped.
  const filled = withFolder(fill(text, pageValues(contract)), './', folder).replace(
    /<[a-z][^<>]*?="\.\//g,
    (tag) => tag.slice(0, -2) + root,
  );
  return { body: Buffer.from(filled), brotli: filled === text ? made : undefined };
}

/** Adds the folder of the contract's files to the links of a page: the build writes the links without it. */
const withFolder = (page: string, root: './' | '../', folder: string) =>
  page.replaceAll(` href="${root}openapi.`, ` href="${root}${folder && 'docs/'}openapi.`);

/** The form, with the bar and the contents of the page to read. Their links lead to that page. */
async function loadForm(contract: Contract, folder: string) {
  const page = String((await loadFilled(contract, '../', folder)).body);
  const frame = page
    .slice(page.indexOf('<header>'), page.indexOf('<main>'))
    .replaceAll('href="#', 'href="../docs#')
    .replace(' aria-current="page"', '')
    .replace('href="../docs/try"', '$& aria-current="page"');
  const form = withFolder(readFileSync(new URL('form.html', ADDITIONS), 'utf8'), '../', folder);
  const texts: Record<string, string> = { TITLE: html`${contract.title}`.text, FRAME: frame };
  return { body: Buffer.from(form.replace(/TITLE|FRAME/g, (name) => texts[name] as string)) };
}

/** By one route, since a router has its own meaning for some characters of names. */
function addClients(app: FastifyInstance, url: string, folder: URL): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8', ...PAGE_HEADERS };
  const toFile = (path: string) => readFileSync(join(fileURLToPath(folder), path));
  const clients = new Map(
    listClients(folder).map((path) => [path, buildSendDocument(headers, async () => ({ body: toFile(path) }))]),
  );
  if (clients.size === 0) return;
  app.get<{ Params: { '*': string } }>(url, UNLISTED, async (request, reply) => {
    const send = clients.get(request.params['*']);
    return send ? send(request, reply) : reply.callNotFound();
  });
}

/**
 * The clients to copy, in a folder for each language: `python/client.py`. Empty if there is no such folder: clients are optional.
 * Only files, and none that is hidden: a link could show any file of the machine to everybody.
 */
export function listClients(folder: URL | undefined): string[] {
  if (!folder || !existsSync(folder)) return [];
  const root = fileURLToPath(folder);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .filter((path) => path.includes('/') && !/(?:^|\/)\./.test(path))
    .sort();
}
