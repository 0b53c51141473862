import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { buildTypes } from '../../../src/contract-first/cli/generate/contract-types.ts';
import { inspectContract, readJudged, toRemarks } from '../../../src/contract-first/cli/inspect/inspect.ts';
import { findNotes } from '../../../src/contract-first/cli/inspect/notes.ts';
import { load } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { readOurs } from '../../service.ts';

const DONE = { '200': { description: 'Done.' } };
const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
const securitySchemes = {
  login: { type: 'oauth2', flows: { implicit: { authorizationUrl: 'https://a.example', scopes: { read: '' } } } },
};

const contractOf = (paths: Json) =>
  stringify({ openapi: '3.1.0', info: { title: 'Other', version: '1' }, paths, components: { securitySchemes } });

/** Returns the notes on one operation, without its name. */
async function noted(t: Test, source: Json, item: Json = {}): Promise<string[]> {
  const yaml = contractOf({ '/a': { ...item, get: { operationId: 'find', responses: DONE, ...source } } });
  return findNotes(await load(t, yaml)).map((note) => note.replace('operation find: ', ''));
}

t.test('`inspect` prints a note if a parameter is declared twice', async (t) => {
  const declare = (...names: string[]) =>
    names.map((one) => ({
      name: one,
      in: one.startsWith('X-') || one.startsWith('x-') ? 'header' : 'query',
      schema: {},
    }));
  const parameters = declare('a', 'X-B', 'A', 'x-b', 'a');
  t.strictSame(await noted(t, { parameters }), [
    'parameter x-b is declared twice: the last one counts',
    'parameter a is declared twice: the last one counts',
  ]);
  t.strictSame(await noted(t, { parameters: declare('a', 'b') }), []);
});

t.test('`inspect` prints a note if a variable in the path prefix has no default', async (t) => {
  const notesOf = async (url: string, variables = {}) => {
    const document = { ...parse(contractOf({})), servers: [{ url, variables }] };
    return findNotes(await load(t, stringify(document)));
  };
  const note = 'servers: {version} has no default: no path begins with it';
  t.strictSame(await notesOf('https://{host}/api/{version}'), [note]);
  t.strictSame(await notesOf('/{version}'), [note]);
  t.strictSame(await notesOf('/{version}', { version: { default: 'v1' } }), []);
  t.strictSame(await notesOf('{origin}/v1'), []);
});

t.test('`inspect` prints a note for each field of an operation that the server ignores or changes', async (t) => {
  const servers = [{ url: '/other' }];
  const several = { content: { 'text/csv': {}, 'application/json': {} } };
  const cases: [source: Json, note: string, item?: Json][] = [
    [{ servers }, 'its own servers are not served: it has the path of all others'],
    [{}, 'its own servers are not served: it has the path of all others', { servers }],
    [{ requestBody: { required: true, ...json({}) } }, 'its body is ignored: that of GET means nothing'],
    [
      { responses: { '204': { description: '', ...json({}) } } },
      'response 204: its content is never sent: such a reply has no body',
    ],
    [
      { responses: { '200': { description: '', ...several } } },
      'response 200: of its types, application/json is sent where the handler chooses none',
    ],
  ];
  for (const [source, note, item] of cases) t.strictSame(await noted(t, source, item), [note]);
  t.strictSame(await noted(t, { security: [{ login: ['read'] }] }), []);
  t.strictSame(findNotes(await readOurs()), [], "the pet store's contract has no notes");
});

t.test('if a body allows a range of media types, such as */*, `inspect` notes which the server accepts', async (t) => {
  const of = async (...names: string[]) => {
    const content = Object.fromEntries(names.map((name) => [name, { schema: {} }]));
    const post = { operationId: 'echo', requestBody: { content }, responses: DONE };
    const yaml = contractOf({ '/a': { post } });
    return findNotes(await load(t, yaml));
  };
  t.strictSame(await of('application/json', 'application/*+json'), [
    'operation echo: request.body: of application/*+json, application/json is taken',
  ]);
  t.strictSame(await of('*/*'), ['operation echo: request.body: of */*, application/json is taken']);
  t.strictSame(await of('application/json', 'application/merge-patch+json'), []);
});

t.test('`inspect` prints a note for a schema that allows nothing and for a keyword without effect', async (t) => {
  const ofSchema = (schema: Json) => noted(t, { parameters: [{ name: 'q', in: 'query', schema }] });
  t.strictSame(await ofSchema({ type: 'integer', minLength: 1 }), [
    'minLength says nothing about what is of type integer',
  ]);
  t.strictSame(await ofSchema({ type: ['boolean', 'null'], maximum: 1 }), [
    'maximum says nothing about what is of type boolean or null',
  ]);
  t.strictSame(await ofSchema({ type: 'integer', minimum: 2, maximum: 1 }), [
    'no value fits a schema whose minimum is above its maximum',
  ]);
  t.strictSame(await ofSchema({ items: { minLength: 2, maxLength: 1 } }), [
    'no value fits a schema whose minLength is above its maxLength',
  ]);
  t.strictSame(await ofSchema({ minLength: 1, type: 'string' }), []);
});

t.test('`inspect` prints a note if an operation has another name in code than in the contract', async (t) => {
  const yaml = contractOf({
    '/a/{b-c}': {
      get: {
        operationId: 'get pets x',
        responses: DONE,
        parameters: [{ name: 'b-c', in: 'path', required: true, schema: {} }],
      },
    },
  });
  t.strictSame(findNotes(await load(t, yaml)), [
    'operation getPetsX: it is get pets x in the contract, which cannot name a file of its own',
  ]);
});

t.test('`contract:inspect` prints its notes below the table of operations', async (t) => {
  const file = `${t.testdir({ 'a.yaml': contractOf({ '/a': { get: { operationId: 'find', responses: DONE, servers: [{ url: '/b' }] } } }) })}/a.yaml`;
  t.match(
    (await inspectContract(file)).text,
    /served\n\nnote: operation find: its own servers are not served: it has the path of all others\n\nAll of it/,
  );
});

t.test('a note that several replies or named operations share is printed once', async (t) => {
  const media = { schema: { type: 'string' } };
  const two = { description: 'Done.', content: { 'application/json': media, 'application/x+json': media } };
  const operationOf = (operationId: string) => ({ get: { operationId, responses: { 200: two, 202: two } } });
  const contract = contractOf({ '/a': operationOf('get a'), '/b': operationOf('get b') });
  const file = `${t.testdir({ 'a.yaml': contract })}/a.yaml`;
  const notes = [
    'note: operation getA: it is get a in the contract, which cannot name a file of its own (and 1 more like it)',
    'note: operation getA: response 200: of its types, application/json is sent where the handler chooses none (and 3 more like it)',
  ];
  t.strictSame((await inspectContract(file)).text.match(/^note: .*$/gm), notes);
  t.strictSame(toRemarks(await readJudged(file, { hasNormalForm: true })), notes);
});

t.test('`inspect` prints no note for an operation in components.pathItems that declares no responses', async (t) => {
  const pathItems = { shared: { get: {} } };
  const document = { openapi: '3.1.0', info: { title: 'Other', version: '1' }, components: { pathItems } };
  const paths = { '/a': { $ref: '#/components/pathItems/shared' } };
  t.strictSame(findNotes(await load(t, stringify({ ...document, paths }))), []);
});

t.test("a discriminator's mapping may contain a schema's name, such as Cat, instead of a $ref", async (t) => {
  const of = (kind: string) => ({ type: 'object', properties: { kind: { const: kind } } });
  const oneOf = [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }];
  const Pet = {
    oneOf,
    discriminator: { propertyName: 'kind', mapping: { cat: 'Cat', dog: '#/components/schemas/Dog' } },
  };
  const document = parse(contractOf({}));
  const schemas = { Cat: of('cat'), Dog: of('dog'), Pet };
  const { text: types } = await buildTypes({ ...document, components: { schemas } });
  t.match(types, /Pet: components\["schemas"\]\["Cat"\] \| components\["schemas"\]\["Dog"\];/);
});

t.test('a parameter that contains JSON has the TypeScript type of its schema', async (t) => {
  const q = { name: 'q', in: 'query', ...json({ type: 'object', properties: { b: { type: 'integer' } } }) };
  const document = parse(contractOf({ '/a': { get: { operationId: 'find', parameters: [q], responses: DONE } } }));
  t.match((await buildTypes(document)).text, /q\?: \{\s+b\?: number;/);
});
