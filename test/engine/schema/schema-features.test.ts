/** Tests features of schemas on a real server: readOnly and writeOnly, discriminators, recursion, formats, null. */
import t from 'tap';
import { operation, problemsOf, serve, withPaths } from '../../added-operations.ts';
import { type EchoOptions, type Json, startEcho, withEcho } from '../routes/echo.ts';

const INT64 = { type: 'integer', format: 'int64' };
const LARGE = '9007199254740993';

t.test('a read-only field in a request is a 400, and a write-only field never appears in a reply', async (t) => {
  const account = {
    type: 'object',
    required: ['id', 'name', 'password'],
    properties: {
      id: { ...INT64, readOnly: true },
      name: { type: 'string' },
      password: { type: 'string', writeOnly: true },
      friends: { type: 'array', items: { $ref: '#/components/schemas/Account' } },
      best: { $ref: '#/components/schemas/Account', readOnly: true },
    },
    allOf: [true, { required: ['id'], properties: { id: {} } }],
    additionalProperties: true,
  };
  const schema = { $ref: '#/components/schemas/Account' };
  let answer: Json;
  const options = { body: schema, reply: schema, schemas: { Account: account }, answer: () => answer };
  const { send, log } = await startEcho(t, options);
  answer = { id: 7n, name: 'a', friends: [{ id: 8n, name: 'b' }], best: { id: 2n ** 53n + 1n, name: 'c' } };
  const text = `{"id":7,"name":"a","friends":[{"id":8,"name":"b"}],"best":{"id":${LARGE},"name":"c"}}`;
  t.equal(await send('{"name":"a","password":"x","friends":[{"name":"b","password":"y"}]}'), text);
  t.equal(await send('{"name":"a","password":"x","id":1}'), 'body.id is read-only');
  t.equal(await send('{"name":"a","password":"x","best":{}}'), 'body.best is read-only');
  t.equal(
    await send('{"name":"a","password":"x","friends":[{"name":"b","password":"y","id":1}]}'),
    'body.friends.0.id is read-only',
  );
  answer = { id: 7n, name: 'a', friends: [{ id: 8n, name: 'b', password: 'y' }] };
  t.match(await send('{"name":"a","password":"x"}'), '"internal_error"');
  t.match(log.join(), 'body.friends.0.password is write-only');
});

t.test('with a discriminator, the errors concern only the schema that the value chooses', async (t) => {
  const cat = { type: 'object', required: ['lives'], properties: { kind: { type: 'string' }, lives: INT64 } };
  const tricks = { type: 'array', items: { type: 'string' }, default: [] };
  const dog = { type: 'object', required: ['name'], properties: { kind: { type: 'string' }, tricks, name: {} } };
  const fish = { type: 'object', maxProperties: 1 };
  const oneOf = ['Cat', 'Dog', 'Fish'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const mapping = { dog: '#/components/schemas/Dog', puppy: 'Dog' };
  const schema = { oneOf, discriminator: { propertyName: 'kind', mapping } };
  const { send, given } = await startEcho(t, { body: schema, schemas: { Cat: cat, Dog: dog, Fish: fish } });
  t.equal(await send(`{"kind":"Cat","lives":${LARGE}}`), `{"kind":"Cat","lives":${LARGE}}`);
  t.equal(given[0]?.body.lives, 2n ** 53n + 1n);
  t.equal(await send('{"kind":"puppy","name":1}'), '{"kind":"puppy","name":1,"tricks":[]}');
  t.equal(await send('{"kind":"Cat","tricks":1}'), 'body.lives is missing');
  t.equal(
    await send('{"kind":"dog","tricks":[1],"lives":"x"}'),
    'body.name is missing; body.tricks.0 must be of type string',
  );
  t.equal(await send('{"kind":"Dog"}'), 'body.kind must be one of Cat, dog, puppy, Fish');
  t.equal(await send('{}'), 'body.kind is missing');
  t.equal(await send('7'), 'body must be of type object');
});

t.test("instead of a discriminator's mapping, each alternative may have a const or enum", async (t) => {
  const branch = (kind: Json, least: number) => ({
    type: 'object',
    additionalProperties: false,
    properties: { kind, size: { type: 'integer', minimum: least } },
  });
  const anyOf = [branch({ const: 'small' }, 1), branch({ enum: ['large', 'huge'] }, 9)];
  const { send } = await startEcho(t, { body: { anyOf, discriminator: { propertyName: 'kind' } } });
  t.equal(await send('{"kind":"small","size":1}'), '{"kind":"small","size":1}');
  t.equal(await send('{"kind":"huge","size":8}'), 'body.size must be at least 9');
});

t.test('a schema may refer to itself, and its 64-bit integers are exact at every depth', async (t) => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const note = { type: 'object', additionalProperties: false, properties: { note: { type: 'string' } } };
  const tree = {
    type: 'object',
    required: ['id'],
    additionalProperties: false,
    properties: {
      id: { ...INT64, minimum: 1 },
      count: { type: 'integer', default: 3 },
      children: { type: 'array', items: ref('Tree') },
      parent: { oneOf: [{ type: 'null' }, ref('Tree'), note] },
      named: { type: 'object', additionalProperties: { ...ref('Tree'), description: 'One more.' } },
      value: ref('Value'),
    },
  };
  const value = {
    oneOf: [
      INT64,
      { type: 'string' },
      { type: 'array', items: ref('Value') },
      { type: 'object', properties: { of: ref('Tree') } },
    ],
  };
  const { send, given } = await startEcho(t, { body: ref('Tree'), schemas: { Tree: tree, Value: value } });
  const leaf = `{"id":${LARGE},"count":0}`;
  const text = `{"id":1,"count":1,"children":[{"id":2,"count":2,"children":[${leaf}]}],"parent":${leaf},"named":{"a":${leaf},"b":{"id":5,"count":0}},"value":[${LARGE},["a",{"of":${leaf}}]]}`;
  t.equal(await send(text), text);
  const { children, parent, named, value: sent } = given[0]?.body ?? {};
  for (const node of [children[0].children[0], parent, named.a, sent[1][1].of]) t.equal(node.id, 2n ** 53n + 1n);
  t.equal(sent[0], 2n ** 53n + 1n);
  t.equal(named.b.id, 5n);
  t.equal(
    await send('{"id":1,"parent":null,"children":[{"id":2}]}'),
    '{"id":1,"parent":null,"children":[{"id":2,"count":3}],"count":3}',
  );
  t.equal(
    await send('{"id":1,"children":[{"id":1,"children":[{"id":0,"colour":1}]}]}'),
    'body.children.0.children.0.colour is not a known field; body.children.0.children.0.id must be at least 1',
  );
});

t.test('the server checks each format of texts except decimal, which has no effect', async (t) => {
  const properties = Object.fromEntries(
    ['email', 'uri', 'uuid', 'date', 'date-time', 'decimal'].map((format) => [format, { type: 'string', format }]),
  );
  const { send } = await startEcho(t, { body: { type: 'object', properties } });
  const good = '{"email":"a@b.example","uri":"https://b.example/?a=1","date":"2026-02-28","decimal":"0.10"}';
  t.equal(await send(good), good);
  for (const format of ['email', 'uri', 'uuid', 'date', 'date-time']) {
    t.equal(await send(`{"${format}":"x"}`), `body.${format} must match format "${format}"`);
  }
});

t.test('a nullable field of any type accepts null', async (t) => {
  const properties = {
    text: { type: ['string', 'null'], minLength: 2 },
    list: { type: ['array', 'null'], items: { type: ['integer', 'null'], format: 'int64' } },
    item: { type: ['object', 'null'], properties: { id: INT64 } },
    color: { type: ['string', 'null'], enum: ['red', null] },
  };
  const { send } = await startEcho(t, { body: { type: 'object', properties } });
  for (const text of [
    '{"text":null,"list":null,"item":null,"color":null}',
    `{"list":[null,${LARGE}],"item":{"id":${LARGE}}}`,
  ]) {
    t.equal(await send(text), text);
  }
  t.equal(
    await send('{"text":"a","color":"blue"}'),
    'body.text must have at least 2 characters; body.color must be one of red, null',
  );
});

t.test(
  'the server accepts a keyword without effect, and the lint reports the operation and position of the keyword',
  async (t) => {
    const cases: [options: EchoOptions, problem: string][] = [
      [
        { body: { properties: { n: { type: 'string', nullable: true } } }, reply: true },
        "request.body.n: nullable is of OpenAPI 3.0: write type: [string, 'null'], or anyOf with type: 'null'",
      ],
      [{ reply: { type: 'string', format: 'decimal128' } }, 'response 200: body: unknown format "decimal128" ignored'],
    ];
    for (const [options, problem] of cases) {
      t.strictSame(await problemsOf(t, withEcho(options)), []);
      t.strictSame(await problemsOf(t, withEcho(options), true), [`operation echo: ${problem}`]);
    }
  },
);

t.test('in OpenAPI 3.1, nullable has no effect: the server answers null with 400, even for a number', async (t) => {
  const body = { properties: { n: { type: 'integer', nullable: true }, nullable: { type: 'string', nullable: true } } };
  const { send } = await startEcho(t, { body });
  t.equal(await send('{"n":1,"nullable":"a"}'), '{"n":1,"nullable":"a"}');
  t.equal(
    await send('{"n":null,"nullable":null}'),
    'body.n must be of type integer; body.nullable must be of type string',
  );
});

t.test('a parameter with `schema: true` accepts any text', async (t) => {
  const { send, given } = await startEcho(t, { q: true });
  await send('{}', '?q=007');
  t.equal(given[0]?.query.q, '007');
});

t.test(
  'if an allOf requires a field that a part with additionalProperties: false forbids, the service does not start',
  async (t) => {
    const object = (...names: string[]) => ({
      ...{ type: 'object', additionalProperties: false, required: names },
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    });
    const { additionalProperties: _closed, ...open } = object('id');
    const problem = 'requires id, but a subschema with additionalProperties: false does not declare it';
    const patterns = { ...object('name'), patternProperties: { '^i': true } };
    for (const [allOf, problems] of [
      [[object('name'), open], [`operation echo: response 200: body: ${problem}`]],
      [
        [
          { ...object('name'), required: [] },
          { ...open, required: [] },
        ],
        [],
      ],
      [[object('name', 'id'), open], []],
      [[patterns, open], []],
      [[{ oneOf: [object('name'), object('id')] }, open], []],
    ] as const) {
      t.strictSame(await problemsOf(t, withEcho({ body: true, reply: { allOf } as Json })), problems);
    }
  },
);

t.test('a schema may require a field that only another part of an allOf or anyOf declares', async (t) => {
  const mail = { type: 'object', properties: { mail: { type: 'string' } } };
  const address = {
    allOf: [{ $ref: '#/components/schemas/Mail' }],
    properties: { phone: { type: 'string' }, other: { $ref: '#/components/schemas/Mail', required: ['mail'] } },
    anyOf: [{ required: ['mail'] }, { required: ['phone'] }],
  };
  const { send } = await startEcho(t, { body: address, reply: {}, schemas: { Mail: mail }, answer: () => 1 });
  t.equal(await send('{"phone":"1","other":{"mail":"a"}}'), '1');
  t.match(await send('{}'), /^body\.mail is missing; body\.phone is missing; body must match a schema in anyOf$/);
  t.equal(await send('{"phone":"1","other":{}}'), 'body.other.mail is missing');
  const misspelt = { type: 'object', properties: { items: { type: 'array', items: { ...mail, required: ['mial'] } } } };
  t.strictSame(await problemsOf(t, withEcho({ body: address, reply: true, schemas: { Mail: mail } }), true), []);
  t.strictSame(await problemsOf(t, withEcho({ body: misspelt, reply: {} }), true), [
    'operation echo: body.items.*: requires mial, but no properties declare it',
  ]);
});

t.test(
  "if a reply's schema requires a field that its properties do not declare, the error gives its position",
  async (t) => {
    const object = (others: object) => ({ type: 'object', properties: { a: { type: 'string' } }, ...others });
    const closed = { additionalProperties: false };
    const wrong = object({ required: ['b'], ...closed });
    const cases: [reply: object, place?: string][] = [
      [wrong, 'body: requires b'],
      [object({ required: ['b'] }), 'body: requires b'],
      [{ type: 'object', required: ['b'], ...closed }, 'body: requires b'],
      [{ allOf: [object({}), { required: ['b'] }] }, 'body: requires b'],
      [{ $ref: '#/components/schemas/Loop' }, 'body.loop: requires b'],
      [{ type: 'array', items: wrong, minItems: 1 }, 'body.*: requires b'],
      [object({ properties: { a: wrong, z: wrong }, required: ['a'] }), 'body.a: requires b'],
      [{ type: ['object', 'null'], allOf: [wrong] }, 'body: requires b'],
      // Some value fits each of these, because the field is optional, declared by another keyword, or required only in
      // some alternatives.
      [object({ properties: { a: wrong } })],
      [object({ required: ['b'], additionalProperties: { type: 'string' } })],
      [object({ required: ['b'], patternProperties: { b: {} } })],
      [{ type: 'object', required: ['b'] }],
      [{ allOf: [object({ required: ['b'] })], properties: { b: {} } }],
      [object({ anyOf: [{ required: ['a'] }, { required: ['b'] }], not: { required: ['c'] } })],
      [object({ required: ['b'], anyOf: [{ properties: { b: {} } }] })],
      // Some value fits each of these: null, an empty list, or a value of another type.
      [{ ...wrong, type: ['object', 'null'] }],
      [object({ properties: { a: { ...wrong, type: ['object', 'null'] } }, required: ['a'] })],
      [{ ...object({ properties: { a: wrong }, required: ['a'] }), type: ['object', 'null'] }],
      [{ type: 'array', items: wrong }],
      [{ type: ['array', 'null'], items: wrong, minItems: 1 }],
      [{ type: 'string', properties: { a: {} }, required: ['b'] }],
      [{ properties: { a: {} }, required: ['b'] }],
    ];
    const ref = { $ref: '#/components/schemas/Loop' };
    const schemas = {
      Loop: { type: 'object', properties: { loop: { allOf: [ref], required: ['b'] } }, required: ['loop'] },
    };
    for (const [reply, place] of cases) {
      t.strictSame(
        await problemsOf(t, withEcho({ body: true, reply, schemas })),
        place ? [`operation echo: response 200: ${place}, but no properties declare it`] : [],
        JSON.stringify(reply),
      );
    }
  },
);

t.test('fields and parameters may have the names of inherited JavaScript properties, except __proto__', async (t) => {
  const names = [...Object.getOwnPropertyNames(Object.prototype), 'prototype'].filter((name) => name !== '__proto__');
  const properties = Object.fromEntries(names.map((name) => [name, INT64]));
  const body = { type: 'object', required: names, additionalProperties: false, properties };
  const parameters = names.map((name) => ({ in: 'query', name, required: true, schema: { type: 'integer' } }));
  const item = { parameters: [{ in: 'path', name: 'constructor', required: true, schema: { type: 'integer' } }] };
  const json = { 'application/json': { schema: body } };
  const source = { parameters, requestBody: { content: json }, responses: { 200: { content: json } } };
  const yaml = withPaths({ '/all/{constructor}': { ...item, post: operation('all', source) } });
  const given: Json[] = [];
  const all = (call: Json) => {
    given.push(call);
    return { status: 200, body: call.body };
  };
  const { request } = await serve(t, yaml, { all });
  const text = `{${names.map((name) => `"${name}":${LARGE}`)}}`;
  const query = names.map((name) => `${name}=7`).join('&');
  const post = async (path: string, body: string) => (await request(path, { method: 'POST', body })).text;
  t.equal(await post(`/v1/all/3?${query}`, text), text);
  t.strictSame({ ...given[0].query }, Object.fromEntries(names.map((name) => [name, 7])));
  t.equal(given[0].params.constructor, 3);
  t.match(await post('/v1/all/3', '{}'), 'query.hasOwnProperty is missing');
  t.match(await post(`/v1/all/3?${query}`, '{}'), 'body.toString is missing');

  const proto = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
  const said = (place: string) => `operation echo: ${place}: nothing can be called __proto__: give it another name`;
  const problems = await problemsOf(t, withEcho({ body: proto, reply: proto }));
  t.strictSame(problems, [said('request.body'), said('response 200: body')]);
});

t.test('an integer without a format accepts no fraction, not even one that a double rounds away', async (t) => {
  const integer = { type: 'integer' };
  const { send } = await startEcho(t, { body: integer, q: integer });
  for (const text of ['18446744073709550592.1', '1234567890123456789012345.5', '4503599627370496.50', '-1e-400']) {
    t.match(await send(text), `body has the number ${text}, which cannot be kept exactly`);
    t.equal(await send('7', `?q=${text}`), 'query.q must be of type integer', text);
  }
  t.equal(await send('70.0e-1', '?q=7'), '7');
});
