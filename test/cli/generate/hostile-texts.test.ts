/**
 * Names and texts of a third-party contract never become code in anything that is made from it: code, pages, commands
 * to copy, headers.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { stringify } from 'lossless-json';
import t from 'tap';
import ts from 'typescript';
import { buildTypes } from '../../../src/contract-first/cli/generate/contract-types.ts';
import { buildHandlersMap, buildService, OPTIONAL } from '../../../src/contract-first/cli/generate/service-files.ts';
import { checkedName } from '../../../src/contract-first/cli/generate/source-text.ts';
import { writeErrors } from '../../../src/contract-first/cli/scaffold/errors-file.ts';
import { toJavaScript } from '../../../src/contract-first/cli/typescript/erase-types.js';
import { checkOperations } from '../../../src/contract-first/contract/checks/checked-operations.ts';
import { renderPage } from '../../../src/contract-first/contract/page/page.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import {
  ContractError,
  type Operation,
  type ReadContract,
} from '../../../src/contract-first/engine/contract/contract.ts';
import { HttpError } from '../../../src/contract-first/engine/errors/catalogue.ts';
import { toErrorBody } from '../../../src/contract-first/engine/errors/error-body.ts';
import { deprecationHeaders } from '../../../src/contract-first/engine/replies/deprecation.ts';
import {
  type CompiledOperations,
  compileOperations,
} from '../../../src/contract-first/engine/routes/compiled-operations.ts';
import { keywordsOf } from '../../../src/contract-first/engine/schema/json.ts';
import type { Json } from '../../any-json.ts';
import { makeProjectFolder } from '../../program.ts';
import { runProperties, toProperty } from '../../properties/property.ts';
import { finished } from '../../service.ts';
import { ALL, contractWith, HOSTILE, RECORDS, type Skeleton, WORST } from './hostile-contract.ts';
import { checkSandbox, checkWritten, demand, wordsOf } from './written-checks.ts';

type Texts = [mark: string, text: string][];

const FOLDER = makeProjectFolder(t);
const OWN = { toErrorBody, domain: {} };

const FILE = join(FOLDER, 'contract.json');

/** Loads the contract; undefined if it is rejected. Records must also be servable. */
async function loaded(texts: Texts, skeleton = ALL): Promise<ReadContract | undefined> {
  writeFileSync(FILE, stringify(contractWith(new Map(texts), skeleton)) as string);
  try {
    const contract = await loadContract(FILE);
    const { toErrorBody } = writeErrors(contract);
    if (skeleton === RECORDS) checkOperations(contract, { toErrorBody, domain: {} });
    return contract;
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return undefined;
  }
}

/** Checks that the generated types contain only types: nothing is left when types are erased. */
async function checkTypes({ document }: ReadContract): Promise<void> {
  const { text } = await buildTypes(document);
  const { statements, parseDiagnostics }: Json = ts.createSourceFile('types.ts', text, ts.ScriptTarget.Latest);
  demand(parseDiagnostics.length === 0, parseDiagnostics[0]?.messageText);
  for (const { kind } of statements) demand(TYPES.includes(kind), `the types have a ${ts.SyntaxKind[kind]}`);
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, await toJavaScript(text));
  for (let token = scanner.scan(); token !== ts.SyntaxKind.EndOfFileToken; token = scanner.scan())
    demand(/^(export|\{|\}|;)$/.test(scanner.getTokenText()), `without types, ${scanner.getTokenText()} is left`);
}
const TYPES = [ts.SyntaxKind.InterfaceDeclaration, ts.SyntaxKind.TypeAliasDeclaration];

/**
 * Checks that the scopes in the generated code are those of the contract, and that the map of handlers has one import
 * and one line for each operation.
 */
async function checkCode(contract: ReadContract): Promise<void> {
  const ids = [...contract.operations.keys()];
  const scopes = [...contract.operations.values()].flatMap(({ security }) => security.flatMap(({ scopes }) => scopes));
  const [, listed] = /^ {2}scopes: (.*) as readonly string\[\],$/m.exec(
    buildService(contract, { name: 'petstore', version: '1.0.0' }, OPTIONAL).text,
  ) as RegExpExecArray;
  const { SCOPES } = await import(`data:text/javascript,${encodeURIComponent(`export const SCOPES = ${listed}`)}`);
  demandSame(SCOPES, [...new Set(scopes)], 'scopes');
  const map = ts.createSourceFile('map.ts', buildHandlersMap(contract).text, ts.ScriptTarget.Latest);
  const imported = map.statements
    .filter(ts.isImportDeclaration)
    .map(({ moduleSpecifier }: Json) => moduleSpecifier.text);
  demandSame(imported, [...ids.map((id) => `../../handlers/${id}.ts`), 'contract-first'], 'imports');
  demandSame(map.statements.length, imported.length + 1, 'statements of the map');
}

/** The elements that our page and Markdown produce, with their attributes. */
const ELEMENTS: Record<string, string> = {
  ...{
    html: 'lang',
    meta: 'charset name content',
    link: 'rel href type sizes',
    script: 'src type',
    nav: 'id popover aria-label',
    select: 'id aria-label hidden',
    option: 'value',
  },
  ...{
    a: 'href class aria-current',
    section: 'id class',
    div: 'id class popover role aria-label',
    figure: 'class',
    details: 'open',
    pre: 'tabindex',
    code: 'class',
    b: 'class',
    p: 'id class hidden',
    tr: 'id',
    dt: 'id',
    dl: 'class',
    h2: 'id',
    ul: 'class',
  },
  ...{
    button: 'type class popovertarget aria-label data-fetch hidden',
    input: 'type class autocomplete spellcheck autofocus aria-label placeholder',
    img: 'src alt',
    ol: 'start',
  },
};
const BARE =
  /^(head|body|title|main|header|small|h[1-6]|p|ul|li|dl|dt|dd|code|summary|label|output|s|span|table|thead|tbody|th|td|em|strong|blockquote|hr|br|figcaption)$/;
const TAG = /<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/g;

/** Checks that each `<` begins an element of the page itself, and that no URL runs a script. */
function checkPage(page: string): void {
  const texts = page
    .replace('<!DOCTYPE html>', '')
    .replace(/<!--[\w-]*-->/g, '')
    .replace(TAG, (_tag, _end, name, attributes) => {
      const known = (ELEMENTS[name] ?? '').split(' ');
      demand(name in ELEMENTS || BARE.test(name), `the page has an element ${name}`);
      for (const [, attribute = '', value = ''] of attributes.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)) {
        demand(known.includes(attribute), `${name} has an attribute ${attribute}`);
        if (/^(href|src)$/.test(attribute)) checkAddress(decoded(value));
      }
      return '';
    });
  demand(!/[<>]/.test(texts), `the page has ${/.{0,40}[<>].{0,40}/s.exec(texts)}`);
}

function checkAddress(address: string): void {
  const { protocol } = new URL(address, 'http://host/');
  demand(/^(https?:|mailto:)$/.test(protocol), `the page leads to ${address}`);
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
const decoded = (text: string) =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) => NAMED[name] ?? String.fromCharCode(Number(code)));

const URL_TEXT = /^https:\/\/SERVER[\w.~:@!$&'()*+,;=%/#-]*$/;

/** Checks that each curl command consists of the headers, the body and the URL of its operation, each as one word. */
function checkCommands(contract: ReadContract, page: string): void {
  const texts = [...page.matchAll(/<figure class="request">.*?<pre tabindex="0">(.*?)<\/pre>/gs)].map(([, text = '']) =>
    decoded(text.replace(/<!--[\w-]*-->/g, '')),
  );
  const found = wordsOf(texts);
  const urls = found.slice(0, -1).map((words) => words.pop() as string);
  // A long body is printed on several lines.
  for (const words of found) if (words.includes('-d')) words.push(JSON.stringify(JSON.parse(words.pop() as string)));
  for (const url of urls) demand(URL_TEXT.test(url), `a command calls ${url}`);
  const [put, list] = [...contract.operations.values()] as [Operation, Operation];
  const source = Object.values<Json>(JSON.parse(contract.json).paths)[0].put;
  const [{ examples }] = Object.values<Json>(source.requestBody.content);
  const header = source.parameters.find((one: Json) => one.in === 'header');
  const key = `${list.security[0]?.location.name}: `;
  const ofList = ['-i', '-H', `${key}<API_KEY>`];
  const type = `Content-Type: ${put.body?.contents[0]?.type}`;
  const [{ value }] = Object.values<Json>(examples);
  const sent = `${header.name}: ${Object.values<Json>(header.examples)[0].value}`
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed();
  const ofOld = ['-i'];
  const ofPut = ['-i', '-X', 'PUT', '-H', `${key}<API_KEY>`, '-H', sent, '-H', type, '-d', JSON.stringify(value)];
  demandSame(found, [ofList, ofPut, ofList, ofOld, []], 'commands');
}

/**
 * Checks that the compiled checks and writers run no text of the contract, and write exactly the values that they get.
 */
function checkServed(contract: ReadContract): void {
  const list = contract.operations.get('list') as Operation;
  for (const operation of contract.operations.values()) {
    const operations = new Map([operation, list].map((one) => [one.id, one]));
    const one = compiledOf({ ...contract, operations })?.get(operation.id);
    one?.check({ params: {}, query: {}, body: {}, headers: {}, raw: { url: '/', rawHeaders: [] } });
    const plain = operation.replies.find(({ status }) => status === '206');
    if (!plain || !one) continue;
    const fields = Object.entries(keywordsOf(plain.schema).properties ?? {});
    const body = Object.fromEntries(
      fields.map(([name, field]) => [name, keywordsOf(field).type === 'integer' ? 1 : 'a']),
    );
    demandSame(JSON.parse(one.writerOf(plain).write(body)), body, 'what is written');
  }
}

/** Compiles the contract; undefined if it is rejected. */
function compiledOf(contract: ReadContract): CompiledOperations | undefined {
  try {
    return compileOperations(finished(contract, OWN), OWN);
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return undefined;
  }
}

/** Checks that the generated `errors.ts` makes exactly the bodies that were tried before. */
async function checkErrors(contract: ReadContract): Promise<void> {
  const { code, toErrorBody: tried } = writeErrors(contract);
  if (!code) return;
  const { toErrorBody: written } = await imported(await toJavaScript(code.text));
  for (const { id, replies } of contract.operations.values())
    for (const { status } of replies) {
      const error = { ...new HttpError('route_not_found', 'x').body, problems: undefined, requestId: 'r1' };
      const where = { operation: id as never, reply: status };
      demandSame(written({ ...error, ...where }), tried({ ...error, ...where }), 'an error');
    }
}

const imported = (text: string) => import(`data:text/javascript,${encodeURIComponent(text)}`);

function checkHeaders(contract: ReadContract): void {
  for (const operation of contract.operations.values()) {
    const { link = '<>; rel="successor-version"' } = deprecationHeaders(operation, contract);
    demand(/^<[^\s"<>\\^`{|}]*>; rel="successor-version"$/.test(link), `Link: ${link}`);
  }
}

const demandSame = (found: unknown, wanted: unknown, name: string) =>
  demand(JSON.stringify(found) === JSON.stringify(wanted), `${name}: ${JSON.stringify([found, wanted])}`);

async function check(contract: ReadContract): Promise<void> {
  await checkTypes(contract);
  await checkCode(contract);
  const page = renderPage(contract, []);
  checkPage(page);
  checkCommands(contract, page);
  checkHeaders(contract);
  checkServed(contract);
  await checkErrors(contract);
  demand(!hasRun, 'a text was run');
}

let hasRun = false;
Object.assign(globalThis, { ran: () => (hasRun = true) });

/** Returns those texts that the contract accepts at their positions together. */
async function takenOf(texts: Texts, skeleton = ALL): Promise<Texts> {
  if (texts.length === 0 || (await loaded(texts, skeleton))) return texts;
  if (texts.length === 1) return [];
  const half = Math.ceil(texts.length / 2);
  const [first, second] = [await takenOf(texts.slice(0, half), skeleton), await takenOf(texts.slice(half), skeleton)];
  return (await loaded([...first, ...second], skeleton)) ? [...first, ...second] : first;
}

/**
 * Calls `check` with contracts that contain the text wherever they accept it. Returns the number of these positions. A
 * name must stay unchanged, so only a few positions get it at a time, because equal names side by side would collide.
 * Other texts get a number each.
 */
async function putEverywhere(text: string, skeleton: Skeleton, check: (contract: ReadContract) => Promise<void>) {
  const { marks } = skeleton;
  const isName = /^\w+$/.test(text);
  const size = isName ? 8 : marks.length;
  let count = 0;
  for (let start = 0; start < marks.length; start += size) {
    const some = marks.slice(start, start + size);
    const taken = await takenOf(
      some.map((mark, index) => [mark, isName ? text : `${text}n${index}`]),
      skeleton,
    );
    await check((await loaded(taken, skeleton)) as ReadContract);
    count += taken.length;
  }
  return count;
}

for (const [name, text] of WORST) {
  t.test(
    `generated code contains this hostile text only as text, wherever a contract accepts it: ${name}`,
    async (t) => {
      const count = await putEverywhere(text, ALL, check);
      t.ok(count > ALL.marks.length / 2, `${count} places take it`);
    },
  );

  t.test(`\`new --assume\` and \`sandbox\` execute no code in a contract with this text: ${name}`, async (t) => {
    let [stored, requests] = [0, 0];
    const count = await putEverywhere(text, RECORDS, async (contract) => {
      stored += checkWritten(contract);
      requests += Number(await checkSandbox(FILE, checkPage));
      demand(!hasRun, 'a text was run');
    });
    t.ok(count > RECORDS.marks.length / 2, `${count} places take it`);
    t.ok(stored > 0, 'records are stored');
    // No URL contains half a character, so no request to such a path is printed.
    t.ok(requests > 0 || !text.isWellFormed(), 'a request is printed');
  });
}

t.test('if a contract has hostile texts in random positions, generated code contains them only as texts', async (t) => {
  const place = fc.tuple(
    fc.constantFrom(...ALL.marks),
    fc.oneof(fc.constantFrom(...WORST.map(([, text]) => text)), HOSTILE),
  );
  const property = toProperty({
    name: 'texts of a contract stay texts',
    cases: fc.array(place, { minLength: 1, maxLength: 4 }),
    holds: async (texts) => check((await loaded(await takenOf(texts))) as ReadContract),
    toText: (texts) => JSON.stringify(texts),
  });
  await runProperties(t, [property], 1 / 20);
});

t.test('the code generator throws an error for a name that is not a valid identifier', async (t) => {
  for (const name of ['a b', 'a;', '', "a'", 'a.b', '1', 'a\u2028'])
    t.throws(() => checkedName(name), { message: `${JSON.stringify(name)} cannot be a name in generated code` });
});
