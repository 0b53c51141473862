/** Serves the contract: as it is written in YAML, as JSON without loss, as a page to read, and with Swagger UI to try. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Contract } from '../contract/contract.ts';
import { addDocument, addPage, type Loaded } from './documents.ts';
import { fill, toBlanks } from './filled.ts';
import { html } from './html.ts';

/**
 * The headers that OWASP recommends for HTML, beside those of every reply. The page loads nothing from other sites, and has no inline
 * script or style. No `upgrade-insecure-requests`: it would leave the page blank on plain HTTP.
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
const SWAGGER_UI_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** Our files for the browser. `try.html` is the page of Swagger UI, the others are its scripts and styles, and those of the page to read. */
const ADDITIONS = new URL('page/', import.meta.url);
const TRY_PAGE = 'try.html';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.html': 'text/html; charset=utf-8',
  '.yaml': 'application/yaml',
  '.json': 'application/json; charset=utf-8',
};

/** The headers of a file of the page. */
const headersOf = (name: string) => ({
  'content-type': TYPES[extname(name)] ?? 'text/plain; charset=utf-8',
  ...PAGE_HEADERS,
});

/** Below `prefix`, such as `/internal`. Links are relative, so that the pages work below any path that a proxy strips. */
export function addDocs(app: FastifyInstance, contract: Contract, prefix: string, folder?: URL): void {
  for (const [name, body] of Object.entries({
    'openapi.yaml': contract.yaml,
    'openapi.json': Buffer.from(contract.json),
  }))
    addDocument(app, `${prefix}/${name}`, body, { 'content-type': TYPES[extname(name)] as string });
  const { loadPage, title } = contract;
  const page = async (root: string) => loadFilled(await loadPage(), contract, root);
  addPage(app, `${prefix}/docs`, () => page('./'), headersOf('docs.html'));
  addPage(app, `${prefix}/docs/`, () => page('../'), headersOf('docs.html'));
  const tryPage = readFileSync(new URL(TRY_PAGE, ADDITIONS), 'utf8').replaceAll('TITLE', () => html`${title}`.text);
  addDocument(app, `${prefix}/docs/try`, Buffer.from(tryPage), headersOf(TRY_PAGE));
  for (const path of listClients(folder)) addFile(app, `${prefix}/docs/clients/${path}`, new URL(path, folder));
  for (const name of SWAGGER_UI_FILES) addFile(app, `${prefix}/docs/static/${name}`, new URL(name, SWAGGER_UI));
  for (const name of readdirSync(ADDITIONS).filter((one) => one !== TRY_PAGE))
    addFile(app, `${prefix}/docs/static/${name}`, new URL(name, ADDITIONS));
}

const addFile = (app: FastifyInstance, url: string, file: URL) =>
  addDocument(app, url, readFileSync(file), headersOf(url));

/** The page as it was made, if nothing in it is another at this start: then it is compressed already. */
async function loadFilled(made: Buffer, contract: Contract, root: string): Promise<Loaded> {
  const text = (await promisify(brotliDecompress)(made)).toString();
  const filled = fill(text, toBlanks(contract)).replaceAll('="./', `="${root}`);
  return { body: Buffer.from(filled), brotli: filled === text ? made : undefined };
}

/** The clients to copy, in a folder for each language: `python/client.py`. None if there is no such folder: a contract need not have any. */
export function listClients(folder: URL | undefined): string[] {
  const names = folder && existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  return names.filter((name) => /^\w+\/\S+\.\w+$/.test(name)).sort();
}
