/** The reference page that the build makes of a contract. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { makePage, renderPage } from '../../../src/contract-first/contract/page/page.ts';
import { buildSamples } from '../../../src/contract-first/contract/page/sample.ts';
import { type DocumentSource, toSource } from '../../../src/contract-first/contract/page/source.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { ReadContract } from '../../../src/contract-first/engine/contract/contract.ts';
import type { MediaNode } from '../../../src/contract-first/engine/contract/document.ts';
import { toDoubles } from '../../../src/contract-first/engine/contract/numbers.ts';
import { withPublicPath } from '../../../src/contract-first/engine/contract/operator-changes.ts';
import { withManyOperations } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { changed, OTHERS } from '../../other-contracts.ts';
import { withNewOperations } from '../../properties/new-operations.ts';
import { loadOurs, readOurs, startService } from '../../service.ts';

const RICH = readFileSync(new URL('./rich.yaml', import.meta.url), 'utf8');

const load = (t: Test, yaml: string) => loadContract(`${t.testdir({ 'any.yaml': yaml })}/any.yaml`);

const decoded = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) =>
      code ? String.fromCharCode(Number(code)) : ({ amp: '&', lt: '<', gt: '>', quot: '"' }[name as string] as string),
    );

/** Returns the contents of all elements that begin with the text `start`, each up to `end`. */
const partsOf = (html: string, start: string, end: string) =>
  html
    .split(start)
    .slice(1)
    .map((part) => part.slice(0, part.indexOf(end)));

const sectionOf = (page: string, id: string) =>
  partsOf(page, `<section id="${id}" class="row">`, '</section>')[0] as string;
const commandOf = (page: string, id: string) =>
  decoded(partsOf(sectionOf(page, id), '<pre tabindex="0">', '</pre>')[0] as string);
const textOf = (page: string, id: string) => decoded(sectionOf(page, id)).replace(/\s+/g, ' ');

/** Lists each media type of a contract's requests and replies, and which fields its samples leave out. */
function mediaOf(
  contract: ReadContract,
  source: DocumentSource,
): [place: string, media: MediaNode, leftOut: 'readOnly' | 'writeOnly'][] {
  return [...contract.operations.values()].flatMap((operation) => {
    const node = source.nodesOf(operation).source;
    const requests = Object.entries(source.follow(node.requestBody)?.content ?? {});
    const replies = Object.entries(node.responses ?? {}).flatMap(([status, reply]) =>
      Object.entries(source.follow(reply).content ?? {}).map(([type, media]) => [`${status} ${type}`, media] as const),
    );
    return [
      ...requests.map(
        ([type, media]) => [`${operation.id} ${type}`, media, 'readOnly'] as [string, MediaNode, 'readOnly'],
      ),
      ...replies.map(
        ([type, media]) => [`${operation.id} ${type}`, media, 'writeOnly'] as [string, MediaNode, 'writeOnly'],
      ),
    ];
  });
}

const ours = readFileSync(new URL('../../../openapi/petstore.yaml', import.meta.url), 'utf8');
const CONTRACTS: Record<string, string> = {
  ours,
  rich: RICH,
  many: withManyOperations(),
  added: stringify(withNewOperations(parse(ours))),
  ...Object.fromEntries(Object.keys(OTHERS).map((name) => [name, changed(name)])),
};

for (const [name, yaml] of Object.entries(CONTRACTS)) {
  t.test(
    `samples for the contract ${name} are valid; its reference page shows each reply with a body, and has no broken link`,
    async (t) => {
      const contract = await load(t, yaml);
      const source = toSource(contract);
      const { ofMedia } = buildSamples(source);
      const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
      formats.default(ajv);
      const shared = toDoubles(source.document.components);
      for (const [place, media, leftOut] of mediaOf(contract, source).filter(
        ([, { schema }]) => schema !== undefined,
      )) {
        const validate = ajv.compile({ allOf: [toDoubles(media.schema)], components: shared } as Json);
        for (const { value } of ofMedia(media, leftOut)) {
          validate(toDoubles(value));
          const problems = (validate.errors ?? []).filter(({ keyword, params }) => {
            return (
              keyword !== 'required' ||
              !new RegExp(`"${params.missingProperty}":\\{[^}]*"${leftOut}":true`).test(JSON.stringify(shared))
            );
          });
          t.strictSame(problems, [], place);
        }
      }
      const page = renderPage(contract, []);
      for (const operation of contract.operations.values()) {
        const replies = Object.values(source.nodesOf(operation).source.responses ?? {}).map((reply) =>
          source.follow(reply),
        );
        const withBody = replies.filter(({ content = {} }) => Object.keys(content).length > 0);
        t.equal(sectionOf(page, operation.id).match(/<details/g)?.length ?? 0, withBody.length, operation.id);
      }
      const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      t.equal(new Set(ids).size, ids.length, 'no two elements have the same id');
      for (const [, id = ''] of page.matchAll(/href="#([^"]+)"/g)) t.ok(ids.includes(id), id);
    },
  );
}

t.test(
  'the reference page and the try-it form escape all texts of the contract, and are readable without JavaScript',
  async (t) => {
    const contract = await load(t, RICH);
    const page = renderPage(contract, []);
    t.match(page, '<title>&#60;b&#62;Rich&#60;/b&#62; &#38; &#34;quoted&#34;</title>');
    t.notMatch(page, /<(img|script)>|<img|<\/?noscript>| style=/);
    t.match(page, '<td><code>mine</code>');
    t.match(textOf(page, 'putThing'), 'A <b> image');
    t.notMatch(page, 'Clients to copy');
    t.match(
      page,
      '<a href="https://example.com/"><code>gone</code></a> and <a href="#error-gone"><code>gone</code></a>',
    );
    t.match(renderPage(contract, ['go/client.go', 'go/README.md']), /README\.md<\/a><\/li>/);
    for (const text of [
      'PUT /v2/things/{part_id}/{at}',
      'Takes a key as X-Key and a key as X-More.',
      'In the path',
      'Body application/json',
    ])
      t.match(textOf(page, 'putThing'), text);
    t.match(textOf(page, 'deleteThing'), 'Takes a key as Authorization, or a key as session, or none.');
    t.match(textOf(page, 'sendFields'), 'Takes no key.');
    t.match(textOf(page, 'sendBytes'), 'Takes a key with write.');
  },
);

t.test(
  'the reference page describes each type in one line, and lists the fields of a named object only once',
  async (t) => {
    const page = renderPage(await load(t, RICH), []);
    for (const words of [
      'id integer, int64, only in replies required',
      'a integer, 1 to 100, default 20 required An a.',
      'level any, one of low high required',
      'named Named',
      'tree Tree',
      'shape Shape',
      'old string or null',
      'rows array of object, 1 to 5 items, each once',
      'choice object or object Choice 1:x string Choice 2:y string',
      'either string, uuid or integer',
      'same Base',
      'many string',
      'any other field integer',
      'secret string, only in requests',
    ])
      t.match(textOf(page, 'putThing'), words);
    for (const words of [
      'exact string, 3 characters',
      'least string, at least 2 characters',
      'filled string, at least 1 character ',
      'above integer, more than 0',
      'under integer, less than 0',
      'tens integer, at least 15, a multiple of 10',
      'short string, at most 2 characters',
    ])
      t.match(textOf(page, 'object-Words'), words);
    t.match(textOf(page, 'object-Named'), 'own string required');
    t.match(page, 'id="object-Tree.below"');
    t.equal(page.match(/<h3><a href="#object-Tree">Tree<\/a><\/h3>/g)?.length, 1);
    t.match(textOf(page, 'addAll'), 'An array of:name string');
    t.match(textOf(page, 'putThing'), '410 It is gone. gone Headers: X-Last');
    t.match(page, '<dt id="header-X-Shared">');
  },
);

t.test(
  'if two parts of allOf declare a property, the reference page shows the stricter rules and both descriptions',
  async (t) => {
    const contract = await load(
      t,
      `openapi: 3.1.0
info: { title: Parts, version: 1.0.0 }
paths:
  /dogs:
    get:
      operationId: listDogs
      responses: { "200": { description: Dogs., content: { application/json: { schema: { $ref: "#/components/schemas/Dog" } } } } }
components:
  schemas:
    Owner: { type: object, description: A person., properties: { name: { type: string } } }
    Pet:
      type: object
      required: [kind]
      properties:
        age: { type: integer, minimum: 0, maximum: 100, description: In years. }
        kind: { type: string, enum: [cat, dog] }
        mood: { type: string, enum: [calm, wild] }
        name: { type: string, maxLength: 20 }
        owner: { $ref: "#/components/schemas/Owner" }
        parent: { $ref: "#/components/schemas/Pet" }
    Dog:
      allOf:
        - $ref: "#/components/schemas/Pet"
        - type: object
          required: [parent]
          properties:
            age: { type: integer, minimum: 1, maximum: 200, description: At least one. }
            kind: { type: string, enum: [dog] }
            mood: { type: string, enum: [asleep], description: Of dogs. }
            name: { type: string, maxLength: 20 }
            owner: { description: Who walks it. }
            parent: { $ref: "#/components/schemas/Dog" }
        - properties: { age: { minimum: 0, maximum: 30, description: In years. } }
`,
    );
    const page = renderPage(contract, []);
    const dog = textOf(page, 'object-Dog');
    t.match(dog, 'age integer, 1 to 30 In years. At least one.');
    t.match(dog, 'kind string, one of dog required');
    t.match(dog, 'mood string, one of calm wild Of dogs.', 'of contradicting rules, the page shows the first ones');
    t.match(dog, 'name string, at most 20 characters');
    t.match(dog, 'owner Owner A person. Who walks it.');
    t.match(dog, 'parent object required', 'both parts are named');
    const [, reply = ''] = partsOf(sectionOf(page, 'listDogs'), '<pre tabindex="0">', '</pre>');
    t.match(JSON.parse(decoded(reply)), { age: 1, kind: 'dog' });
  },
);

t.test(
  "a sample of a request lacks the fields that only a reply may have, even if the contract's example has them",
  async (t) => {
    const { ofMedia } = buildSamples(toSource(await load(t, RICH)));
    const schema = { type: 'object', properties: { id: { type: 'string', readOnly: true }, name: { type: 'string' } } };
    const example = { id: '7', name: 'Rex' };
    const valuesOf = (media: MediaNode, leftOut: 'readOnly' | 'writeOnly') =>
      ofMedia(media, leftOut).map(({ value }) => value);
    t.strictSame(valuesOf({ schema, example }, 'readOnly'), [{ name: 'Rex' }]);
    t.strictSame(valuesOf({ schema, examples: { one: { value: example } } }, 'readOnly'), [{ name: 'Rex' }]);
    t.strictSame(valuesOf({ schema, example }, 'writeOnly'), [example]);
    t.strictSame(valuesOf({ example }, 'readOnly'), [example]);
  },
);

t.test('the curl sample of an operation sends exactly the request that the contract describes', async (t) => {
  const page = renderPage(await load(t, RICH), []);
  t.equal(
    commandOf(page, 'putThing'),
    `curl -i -X PUT \\
  -H 'X-Key: <API_KEY>' \\
  -H 'X-More: <API_KEY>' \\
  -H 'X-Rule: it'\\''s,so' \\
  -H 'Content-Type: application/json' \\
  -d '{"a":20,"level":"low"}' \\
  'https://SERVER/v2/things/string/1,2?fields=a&fields=b&list=a,b&spaced=a%20b&piped=a%7Cb&deep[a]=1&b=2&json=%7B%22c%22%3A3%7D'`,
  );
  const wanted: Record<string, string[]> = {
    deleteThing: ['curl -i -X DELETE', "-u '<API_KEY>:'"],
    sendForm: [
      "-F 'file=@file'",
      "--form-string 'name=string'",
      "--form-string 'tags=string'",
      "/form?token=<API_KEY>'",
    ],
    sendFields: ['-X PUT', "--data-urlencode 'name=O'\\''Neil'"],
    sendBytes: ["-H 'Authorization: Bearer <API_KEY>'", "-H 'Content-Type: image/png'", "--data-binary '@file'"],
    peek: ['curl --head'],
    addAll: ['[{"name":"string"}]'],
    addLong: ['-d \'{\n  "text": "A text'],
    addOdd: ["-d '{}'"],
    search: ["-H 'Idempotency-Key: <UUID>'", '{"kind":"box","side":1}'],
  };
  for (const [id, parts] of Object.entries(wanted)) for (const part of parts) t.match(commandOf(page, id), part, id);
});

t.test(
  'samples omit recursive schemas, deep objects, read-only fields of requests and write-only fields of replies',
  async (t) => {
    const page = renderPage(await load(t, RICH), []);
    const [, reply = ''] = partsOf(sectionOf(page, 'putThing'), '<pre tabindex="0">', '</pre>');
    const [thing] = JSON.parse(decoded(reply).replace('9223372036854775807', '"9223372036854775807"'));
    t.match(thing, {
      id: '9223372036854775807',
      level: 'low',
      shape: { kind: 'box', side: 1 },
      old: 'string',
      map: { name: 1 },
      either: '123e4567-e89b-42d3-a456-426614174000',
    });
    t.notOk('secret' in thing);
    const tree = partsOf(sectionOf(page, 'object-Tree'), '<pre tabindex="0">', '</pre>')[0] as string;
    t.strictSame(JSON.parse(decoded(tree)), { name: 'string', others: [] });
    const [, words = ''] = partsOf(sectionOf(page, 'search'), '<pre tabindex="0">', '</pre>');
    const { date, code, day, odd, long, short, exact, below, above, under, tens, even, halves, none, list } =
      JSON.parse(decoded(words));
    t.strictSame(
      { date, code, day, odd, long, short, exact, below, above, under, tens, even, halves, none, list },
      {
        ...{ date: '2026-01-31T12:00:00Z', code: 'ABC', day: '2026-01-31', odd: undefined, long: 'stringstr' },
        ...{
          short: 'st',
          exact: 'str',
          below: -5,
          above: 1,
          under: -1,
          tens: 20,
          even: 10,
          halves: 1,
          none: [],
          list: ['string'],
        },
      },
    );
  },
);

t.test(
  'the reference page lists each server of the contract once, by its description; the server of the page is first',
  async (t) => {
    const page = renderPage(await readOurs(), []);
    t.strictSame(
      partsOf(page, '<option value="', '</option>').map((option) => option.replace(/.*>/, '')),
      ['This server', 'Production', 'Staging'],
    );
    t.strictSame(partsOf(page, '<code class="server">', '</code>').map(decoded), [
      '/v1',
      'https://petstore.example/v1',
      'https://staging.petstore.example/v1',
    ]);
    const other = renderPage(await load(t, RICH), []);
    t.strictSame(partsOf(other, '<code class="server">', '</code>').map(decoded), [
      '/v2',
      'https://things.example/v2',
      'https://b.example/v2/',
    ]);
    const bare = parse(ours);
    delete bare.servers;
    bare.components.schemas.Pet.properties.none = { type: 'null' };
    bare.paths['/pets'].get.responses['400'].description = 'In words of its own.';
    const own = renderPage(await load(t, stringify(bare)), []);
    t.match(own, '<code class="server"><!--server-0-->/<!----></code>');
    t.match(textOf(own, 'object-Pet'), '"none": null');
    t.match(textOf(own, 'listPets'), '400 In words of its own.');
  },
);

const LIST = (parameters: string, items: string, method = 'get') => `openapi: 3.1.0
info: { title: Lists, version: 1.0.0 }
paths:
  /things:
    ${method}:
      operationId: listThings
      parameters: [${parameters}]
      responses: { "200": { description: Things., content: { application/json: { schema: ${items} } } } }
`;

t.test(
  'for a list with page numbers or offsets, the sample program that reads all pages ends after the last page',
  async (t) => {
    const things = '{ type: array, items: { type: object, properties: { id: { type: integer } } } }';
    const limit = '{ name: limit, in: query, schema: { type: integer, default: 2 }, example: 2 }';
    const at = (name: string, more = '') => `{ name: ${name}, in: query, schema: { type: integer${more} } }`;
    const urls: string[] = [];
    const server = createServer(({ url = '' }, reply) => {
      urls.push(url);
      reply.end(urls.length % 3 === 0 ? '{"things":[]}' : '{"things":[{"id":1}]}');
    }).listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const [parameters, items, wanted] of [
      [at('page'), `{ type: object, properties: { things: ${things} } }`, ['?page=1', '?page=2', '?page=3']],
      [`${limit}, ${at('offset')}`, things, ['?limit=2&offset=0', '?limit=2&offset=2', '?limit=2&offset=4']],
      [at('page', ', minimum: 0'), things, ['?page=0', '?page=1', '?page=2']],
      [at('skip'), things, ['?skip=0', '?skip=20', '?skip=40']],
      [
        at('page'),
        `{ allOf: [{ type: object, properties: { data: { type: array, items: { type: object } } } }, { properties: { data: ${things} } }] }`,
        ['?page=1', '?page=2', '?page=3'],
      ],
    ] as const) {
      const page = renderPage(await load(t, LIST(parameters, items)), []);
      const program = decoded(
        partsOf(page, 'data-recipe="counted">', '</figure>')[0]?.split('<pre tabindex="0">')[1] as string,
      );
      urls.splice(0);
      await promisify(execFile)('bash', ['-c', program.replace('https://SERVER', `http://127.0.0.1:${port}`)], {
        cwd: t.testdir({}),
      });
      t.strictSame(
        urls,
        wanted.map((query) => `/things${query}`),
      );
      t.match(page, '<a href="#about-pages">Pages</a></h2>', 'the page explains pages in a section of its own');
    }
    t.notMatch(renderPage(await load(t, LIST(at('page'), '{ type: string }')), []), 'data-recipe="counted"');
  },
);

t.test(
  "for a list with a cursor in the reply's body, the sample program that reads all pages ends after the last page",
  async (t) => {
    const urls: string[] = [];
    const server = createServer(({ url = '' }, reply) => {
      urls.push(decodeURIComponent(url));
      const next = ['"a+/="', '"b"', 'null'][urls.length - 1];
      reply.end(`{"things": [{"id": ${urls.length}}],\n "meta": {"nextCursor": ${next}, "next": ${next}}}`);
    }).listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const list = (field: string) =>
      `{ properties: { meta: { type: object, properties: { total: { type: integer }, ${field}: { type: [string, 'null'] } } } } }`;
    const limit = '{ name: limit, in: query, schema: { type: integer }, example: 2 }';
    for (const [parameters, items, wanted] of [
      ['{ name: cursor, in: query, schema: { type: string } }', list('nextCursor'), ['', '?cursor=a+/=', '?cursor=b']],
      [
        `${limit}, { name: after, in: query, schema: { type: string } }`,
        `{ allOf: [{ type: object }, ${list('next')}] }`,
        ['?limit=2', '?limit=2&after=a+/=', '?limit=2&after=b'],
      ],
    ] as const) {
      const page = renderPage(await load(t, LIST(parameters, items)), []);
      const program = decoded(
        partsOf(page, 'data-recipe="cursors">', '</figure>')[0]?.split('<pre tabindex="0">')[1] as string,
      );
      urls.splice(0);
      const { stdout } = await promisify(execFile)(
        'bash',
        ['-c', program.replace('https://SERVER', `http://127.0.0.1:${port}`)],
        { cwd: t.testdir({}) },
      );
      t.strictSame(
        urls,
        wanted.map((query) => `/things${query}`),
      );
      t.match(stdout, /"id": 1[\s\S]*"id": 2[\s\S]*"id": 3/);
    }
    const cursor = '{ name: cursor, in: query, schema: { type: string } }';
    for (const [parameters, items, method] of [
      ['', list('nextCursor'), 'get'],
      [cursor, list('nextCursor'), 'post'],
      [cursor, '{ type: object, properties: { next: { type: string, format: uri } } }', 'get'],
    ] as const)
      t.notMatch(renderPage(await load(t, LIST(parameters, items, method)), []), 'data-recipe="cursors"');
  },
);

t.test(
  "the reference page shows the programs in a client's README among the samples of their operations",
  async (t) => {
    const contract = await load(t, ours);
    const folder = t.testdir({
      clients: {
        go: {
          'README.md':
            '# Go\n\n```go\nnone()\n```\n\n```go listPets\nnew("https://SERVER", "<b>")\n```\n\n```go createPet\nbare()\n```\n',
        },
        plain: { 'README.md': '```text listPets\nplain\n```\n' },
      },
    });
    const page = brotliDecompressSync(await makePage(contract, pathToFileURL(`${folder}/`))).toString();
    t.match(
      sectionOf(page, 'listPets'),
      '<pre hidden data-language="Go client">new("<!--base-->https://SERVER/v1<!---->", "&lt;b&gt;")</pre>',
    );
    t.match(sectionOf(page, 'listPets'), '<pre hidden data-language="With the client">plain</pre>');
    t.match(sectionOf(page, 'createPet'), '<pre hidden data-language="Go client">bare()</pre>');
    t.notMatch(sectionOf(page, 'getPet'), 'data-language');
  },
);

t.test('the reference page shows the change log and the contact; a contact address cannot run a script', async (t) => {
  const contract = parse(ours);
  const page = async () => renderPage(await load(t, stringify(contract)), [], '# Changes\n\n## 2.0.0\n\nNew.\n');
  t.match(await page(), '<h3>2.0.0</h3>');
  t.match(await page(), '<a href="https://petstore.example">Pet Store</a>, <a href="mailto:support@petstore.example">');
  const bare = await makePage(await load(t, ours), new URL('none/', import.meta.url));
  t.notMatch(
    brotliDecompressSync(bare).toString(),
    'page-changes',
    'without a change log, the page has no section for it',
  );
  contract.info.contact = { url: 'javascript:alert(1)' };
  t.match(await page(), '<dt>Help</dt><dd>javascript:alert(1)</dd>');
  delete contract.info.contact;
  delete contract.components.securitySchemes;
  delete contract.security;
  for (const item of Object.values<Json>(contract.paths))
    for (const one of Object.values<Json>(item)) delete one.security;
  t.notMatch(await page(), /<dt>Help|page-key"/);
});

t.test(
  'the server only inserts its server URLs and its path prefix into the reference page that the build made',
  async (t) => {
    const { contract } = await loadOurs();
    const made = await contract.loadPage();
    const { app } = await startService(t);
    const br = await app.inject({ url: '/docs', headers: { 'accept-encoding': 'br' } });
    t.ok(br.rawPayload.equals(made));
    const other = await startService(t, { contract: withPublicPath(contract, '/shop') });
    const page = (await other.app.inject('/docs')).body;
    t.match(commandOf(page, 'listPets'), "'https://SERVER/shop/v1/pets?limit=20'");
    t.match(decoded(partsOf(page, '<code class="server">', '</code>')[0] as string), '/shop/v1');
    t.match((await other.app.inject('/docs/')).body, 'href="../docs/static/page.css"');
    const moved = await startService(t, { contract: withPublicPath(contract, '/a"<b>') });
    t.match((await moved.app.inject('/docs')).body, '/a&#34;&#60;b&#62;/v1');
  },
);
