/**
 * Puts the TypeScript blocks of the documentation into the files that their first lines name, in a service of pets and
 * orders. The page on records has its own service: `records-page.ts`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import type { Test } from 'tap';
import { buildTypes } from '../../src/contract-first/cli/generate/contract-types.ts';
import {
  buildDomain,
  buildHandlersMap,
  buildRegister,
  buildWriting,
} from '../../src/contract-first/cli/generate/service-files.ts';
import { load, operation } from '../added-operations.ts';
import type { Json } from '../any-json.ts';
import { edited } from '../edited-contract.ts';
import { FILES, YAML } from '../orders/service.ts';
import { PAGE } from '../records-page.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Block {
  /** The page, and the line where the block begins. */
  at: string;
  /** The file that the block is, or is a part of. */
  file: string;
  isWhole: boolean;
  text: string;
}

/** A block; the page at `/docs` shows it for an operation if it names one. */
const FENCE = /^( *)```ts(?: (\w+))?\n([\s\S]*?)^ *```$/gm;
/** A block in any other form, which FENCE would miss. */
export const ANY_FENCE = /(`{3,}|~{3,}).*\b([cm]?[jt]sx?|typescript|javascript)\b/gi;
const FIRST_LINE = /^\/\/ (in )?([\w./-]+\.ts)\n/;

/** Finds the blocks of code of a page. Their files are relative to the project's root, or to the folder of a client. */
function blocksIn(paper: string): Block[] {
  const all = read(paper);
  return [...all.matchAll(FENCE)].map(({ 1: indent = '', 2: shown, 3: text = '', index }) => {
    const at = `${paper}:${all.slice(0, index).split('\n').length}`;
    const plain = text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const [line = '', isPart, name = shown ? `${shown}.ts` : ''] = FIRST_LINE.exec(plain) ?? [];
    const file = paper.startsWith('openapi/clients/') ? join(dirname(paper), name) : name;
    return { at, file: name && file, isWhole: isPart === undefined, text: plain.slice(line.length) };
  });
}

const LEFT_OUT = ['node_modules', 'dist', 'data', '.git', '.tap'];
export const PAPERS = readdirSync(ROOT, { withFileTypes: true })
  .filter(({ name }) => !LEFT_OUT.includes(name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(ROOT, entry.name), { recursive: true, encoding: 'utf8' }).map((name) => join(entry.name, name))
      : entry.name,
  )
  .filter((name) => name.endsWith('.md') && name !== PAGE);
/** Blocks that are whole files come first, because the others add lines to them. */
export const BLOCKS = PAPERS.flatMap(blocksIn).toSorted((one, other) => Number(other.isWhole) - Number(one.isWhole));

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const content = (schema: Json) => ({ 'application/json': { schema } });
const header = (name: string, more: Json = {}) => ({ name, in: 'header', schema: { type: 'string' }, ...more });
const FAILURE = { $ref: '#/components/responses/Failure' };
const failures = (...statuses: number[]) => Object.fromEntries(statuses.map((status) => [status, FAILURE]));
const NUMBER = { name: 'number', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } };
const KEY = header('Idempotency-Key', { 'x-idempotency-hours': 24 });

/** The contract of the orders' service, with the operations that the documentation adds. */
const CONTRACT = edited(({ paths, schemas }) => {
  schemas.ErrorCode['x-extensible-enum'].push('pet_is_sold');
  schemas.Order.properties.shop = { type: 'string' };
  schemas.Pet.properties.revision = { type: 'integer', format: 'int64' };
  schemas.Pet.required.push('revision');
  const { name, status } = schemas.NewPet.properties;
  schemas.PetChanges = { type: 'object', properties: { name, status }, additionalProperties: false };
  const { parameters, responses } = paths['/pets/{petId}'].get;
  parameters.push(header('If-None-Match'));
  const ETag = { required: true, schema: { type: 'string' } };
  responses['200'].headers.ETag = ETag;
  responses['304'] = { description: 'The pet has not changed.', headers: { ETag } };
  const id = parameters.filter((parameter: Json) => parameter.in === 'path');
  const pet = { responses: { '200': { content: content(ref('Pet')) }, ...failures(404, 409, 412, 428) } };
  const change = { required: true, content: { 'application/merge-patch+json': { schema: ref('PetChanges') } } };
  Object.assign(paths['/pets/{petId}'], {
    patch: operation('changePet', { parameters: [...id, KEY, header('If-Match')], requestBody: change, ...pet }),
    delete: operation('deletePet', { parameters: id, responses: { '204': {}, ...failures(404) } }),
  });
  paths['/pet-batches'] = {
    post: operation('createPets', {
      requestBody: { required: true, content: content({ type: 'array', items: ref('NewPet'), maxItems: 100 }) },
      responses: { '201': { content: content(ref('Pets')) } },
    }),
  };
  const table = { ...content(ref('Pets')), 'text/csv': { schema: { type: 'string' } } };
  paths['/pet-tables'] = { get: operation('exportPets', { responses: { '200': { content: table } } }) };
  paths['/orders/{number}/payment'] = {
    parameters: [NUMBER],
    post: operation('payOrder', {
      parameters: [KEY],
      requestBody: { required: true, content: content(ref('NewOrder')) },
      responses: failures(403),
    }),
  };
}, YAML);

const ORDERS = (FILES['src/orders/domain.ts'] as string).replace(
  /(?=\n {2}\},\n {2}lists)/,
  "\n    shop: { column: 'shop', type: 'text', isOptional: true },",
);

const PETS = read('src/pets/domain.ts')
  .replace('errors: {', 'errors: { pet_is_sold: { status: 409 },')
  .replace('columns: {', "columns: { revision: { column: 'revision', type: 'int64', set: 'revision' },");

const PAYMENTS = `import type { ServiceParts } from 'contract-first';

export class Payments {
  constructor(...parts: [url: string, key: string, log: ServiceParts['log']]) {
    parts[2].info('made');
  }
}
`;

/** The handler of an operation that the documentation does not show. */
const toHandler = (id: string) => `import { handle, notImplemented } from 'contract-first';

export default handle('${id}', notImplemented);
`;

/** The files of the service that the documentation does not show. */
async function buildFrame(t: Test): Promise<Record<string, string>> {
  const contract = await load(t, CONTRACT);
  const folder = t.testdir({
    pets: { 'domain.ts': PETS },
    orders: { 'domain.ts': ORDERS },
  });
  const source = pathToFileURL(`${folder}/`);
  const handlers = [...contract.operations.keys()].map((id): [string, string] => [`handlers/${id}.ts`, toHandler(id)]);
  return {
    ...Object.fromEntries(handlers),
    'src/generated/contract.ts': (await buildTypes(contract.document)).text,
    'src/generated/handlers.ts': buildHandlersMap(contract).text,
    'src/generated/domain.ts': buildDomain(source).text,
    'src/generated/writing.ts': buildWriting(source, 'openapi/petstore.yaml').text,
    'src/generated/register.ts': buildRegister(contract, ['services', 'tokens']).text,
    'src/services.ts': 'export type Services = object;',
    'src/tokens.ts': 'export type Claims = object;',
    'src/pets/domain.ts': PETS,
    'src/orders/domain.ts': ORDERS,
    'src/payments.ts': PAYMENTS,
    'openapi/clients/typescript/petstore.ts': astToString(await openapiTS(CONTRACT)),
  };
}

const CALL = 'params, query, headers, body, pets, orders, services, caller, accepts, idempotency, urlOf, log';
const OF_ENGINE = 'answer, handle, ifMatch, isRefused, isUnchanged, notImplemented, refuse, refuseAt, toTag';

/**
 * A handler with these lines. The function around them has all arguments of a handler, and imports everything of
 * `contract-first` that they may use.
 */
function toHandlerWith(id: string, lines: string): string {
  const names = [...lines.matchAll(/^const (?:(\w+)|\{(.*)\}) =/gm)].flatMap(
    ([, one, several = '']) => one ?? several.match(/\w+/g) ?? [],
  );
  return `import { ${OF_ENGINE} } from 'contract-first';
export { ${OF_ENGINE} };
export default handle('${id}', async ({ ${CALL} }) => {
void [${CALL}];
{
${lines}
void [${names}];
}
return notImplemented();
});
`;
}

/**
 * The file with these lines. They replace its line with the same first word, such as `lists:`, or are added at the end.
 */
function withLines(file: string, lines: string): string {
  const [word = ''] = /^\w+: /.exec(lines) ?? [];
  const like = new RegExp(`^ *${word}.*$`, 'm');
  return word && like.test(file) ? file.replace(like, () => lines) : `${file}\n${lines}`;
}

/** The service that contains all blocks. */
export interface DocumentedService {
  /** The texts of the files, by their paths from the root of the project. */
  texts: Record<string, string>;
  /** For each file, the pages and lines of the blocks in it. */
  blockAt: Map<string, string>;
}

export async function buildDocumentedService(t: Test): Promise<DocumentedService> {
  const texts = await buildFrame(t);
  const blockAt = new Map<string, string>();
  for (const [index, { at, file, isWhole, text }] of BLOCKS.entries()) {
    const [, id = ''] = /^handlers\/(\w+)\.ts$/.exec(file) ?? [];
    const name = isWhole || id === '' ? file : `handlers/block${index}.ts`;
    texts[name] = isWhole ? text : id ? toHandlerWith(id, text) : withLines(texts[file] ?? '', text);
    blockAt.set(name, `${blockAt.get(name) ?? ''} ${at}`.trim());
  }
  return { texts, blockAt };
}
