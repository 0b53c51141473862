import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { checkOperations } from '../../../src/contract-first/contract/checks/checked-operations.ts';
import { findUndeclared } from '../../../src/contract-first/contract/checks/server-replies.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { toErrorBody } from '../../../src/contract-first/engine/errors/error-body.ts';
import { compileOperations } from '../../../src/contract-first/engine/routes/compiled-operations.ts';
import { domain } from '../../../src/generated/domain.ts';
import { wordsOf } from '../../added-operations.ts';
import { type Edit, edited } from '../../edited-contract.ts';
import { finished, loadOurs, readOurs, startService } from '../../service.ts';

/** A contract that cannot be served: what is wrong with it, the expected problem, and the edit. */
type Refusal = [sentence: string, problem: string, edit: Edit];

const refusals: Refusal[] = [
  [
    'an unknown format in a request body',
    'operation createPet: request.body.name: unknown format "nam" ignored',
    ({ NewPet }) => (NewPet.properties.name = { type: 'string', format: 'nam' }),
  ],
  [
    'an unknown keyword in a parameter',
    'operation listPets: request.query.limit: strict mode: unknown keyword: "maximun"',
    ({ limit }) => (limit.schema.maximun = 50),
  ],
  [
    'a default in an anyOf, which the server would never fill in,',
    'operation createPet: request.body: strict mode: default is ignored for: name',
    ({ NewPet }) => (NewPet.anyOf = [{ properties: { name: { type: 'string', default: 'Rex' } } }]),
  ],
  [
    'an unknown format in a reply',
    'operation getPet: response 200: body.items.id: unknown format "ident" ignored',
    ({ getPet }) => {
      const schema = { type: 'array', items: { properties: { id: { type: 'string', format: 'ident' } } } };
      getPet.responses['200'].content['application/json'].schema = schema;
    },
  ],
  [
    'a required Deprecation header of an operation that is not deprecated',
    'operation createPet: response 201: header Deprecation is required, and not sent',
    ({ createPet, headers }) => (createPet.responses['201'].headers.Deprecation = headers.Deprecation),
  ],
  [
    'a required header of an error reply that the server never sends',
    'operation getPet: response 400: header X-Reason is required, and not sent',
    ({ getPet }) => (getPet.responses['400'].headers['X-Reason'] = { required: true, schema: { type: 'string' } }),
  ],
  [
    'a required Retry-After header of a 404 reply, which never contains one,',
    'operation getPet: response 404: header Retry-After is required, and not sent',
    ({ getPet, headers }) =>
      (getPet.responses['404'].headers['Retry-After'] = { ...headers['Retry-After'], required: true }),
  ],
  [
    'an undeclared Link header that a deprecated operation sends',
    'operation getPet: response 404: header link is sent, and not declared',
    ({ getPet }) => delete getPet.responses['404'].headers.Link,
  ],
  [
    'a Link header whose pattern rejects the link to the successor',
    'operation getPet: response 200: header link is sent as </v1/pets>; rel="successor-version", but it must match ^<[^>]+>$',
    ({ getPet }) => (getPet.responses['200'].headers.Link = { schema: { type: 'string', pattern: '^<[^>]+>$' } }),
  ],
  [
    'a cursor parameter whose maxLength is less than the length of a cursor',
    'operation listPets: parameter after: cannot be the cursor LTkyMjMzNzIwMzY4NTQ3NzU4MDggQlZVNTMwb0xnRXg: it must have at most 36 characters (write x-opaque: false if it is not the cursor of a page)',
    ({ after }) => (after.schema.maxLength = 36),
  ],
  [
    'a cursor parameter whose minLength is more than the length of a short cursor',
    'operation listPets: parameter after: cannot be the cursor MSA: it must have at least 4 characters (write x-opaque: false if it is not the cursor of a page)',
    ({ after }) => (after.schema.minLength = 4),
  ],
  [
    'a cursor parameter without x-opaque whose maxLength is less than the length of a cursor',
    'operation listPets: parameter after: cannot be the cursor LTkyMjMzNzIwMzY4NTQ3NzU4MDggQlZVNTMwb0xnRXg: it must have at most 4 characters (write x-opaque: false if it is not the cursor of a page)',
    ({ after }) => {
      delete after['x-opaque'];
      after.schema.maxLength = 4;
    },
  ],
  [
    'an Error schema with a required field that toErrorBody leaves out',
    'operation getPet: response 400: what toErrorBody in src/errors.ts makes of invalid_request is no such body: body.hint is missing',
    ({ getPet, components }) => {
      const hint = { type: 'integer' };
      const schema = { ...components.schemas.Error, required: ['hint'], properties: { hint } };
      getPet.responses['400'].content['application/json'].schema = schema;
    },
  ],
  [
    'an X-Request-Id header too short for a request id with a trace id',
    'operation createPet: response 201: header x-request-id is sent as AZaz09_--zzzzzzzzzz.0af7651916cd43dd8448eb211c80319c, but it must have at most 32 characters',
    ({ created }) => (created.headers['X-Request-Id'] = { required: true, schema: { type: 'string', maxLength: 32 } }),
  ],
  [
    'a Link header whose pattern rejects the link to the next page',
    'operation listPets: response 200: header link is sent as </v1/pets?after=MSA>; rel="next", but it must match ^https',
    ({ listPets }) => (listPets.responses['200'].headers.Link.schema.pattern = '^https'),
  ],
  [
    'a Retry-After header whose schema rejects a number of seconds',
    'operation getPet: response 429: header retry-after is sent as 1, but it must match GMT$',
    ({ getPet }) => (getPet.responses['429'].headers['Retry-After'] = { schema: { type: 'string', pattern: 'GMT$' } }),
  ],
  [
    'an Error schema whose message is too short for the problems of a request',
    'operation getPet: response 400: what toErrorBody in src/errors.ts makes of invalid_request is no such body: body.message must have at most 1000 characters',
    ({ getPet, components }) => {
      const { properties } = components.schemas.Error;
      const schema = {
        ...components.schemas.Error,
        properties: { ...properties, message: { type: 'string', maxLength: 1000 } },
      };
      getPet.responses['400'].content['application/json'].schema = schema;
    },
  ],
  [
    'a WWW-Authenticate header too short to name a missing scope',
    'operation createPet: response 403: header www-authenticate is sent as Bearer realm="Pet Store", error="insufficient_scope", scope="pets:write", but it must have at most 71 characters',
    ({ components }) =>
      (components.responses.ForbiddenToAdd.headers['WWW-Authenticate'] = { schema: { type: 'string', maxLength: 71 } }),
  ],
  [
    'an Idempotency-Replayed header whose schema rejects "true"',
    'operation createPet: response 201: header idempotency-replayed is sent as true, but it must be yes',
    ({ created }) => (created.headers['Idempotency-Replayed'].schema = { type: 'string', const: 'yes' }),
  ],
  [
    'a required cursor parameter, which the request for a first page cannot contain,',
    'operation listPets: parameter after: it must not be required, because a first page is requested without a cursor',
    ({ after }) => (after.required = true),
  ],
  [
    'a parameter whose schema allows no value',
    'operation listPets: parameter size: allows nothing, not even 3: it must be at most 2',
    ({ listPets }) =>
      listPets.parameters.push({ name: 'size', in: 'query', schema: { type: 'integer', enum: [3, 4], maximum: 2 } }),
  ],
  [
    'a default that breaks the schema of its field',
    'operation createPet: its body.tags: default does not fit its own schema: it must be of type string',
    ({ NewPet }) => {
      const tag = { type: 'string', default: 7 };
      const tags = { anyOf: [{ type: 'object', default: 5 }], default: {}, additionalProperties: tag };
      Object.assign(NewPet.properties, { tags, code: { type: ['string', 'null'], default: null } });
      NewPet.allOf = [{ properties: { tags, nick: { $ref: '#/components/schemas/PetName' } } }];
    },
  ],
  [
    'an x-extensible-enum of texts for an integer',
    'operation createPet: its body.code: allows nothing, not even a: it must be of type integer',
    ({ NewPet }) => (NewPet.properties.code = { type: 'integer', 'x-extensible-enum': ['a', 'b'] }),
  ],
  [
    'a field of a body whose schema allows no value',
    'operation createPet: its body.name: allows nothing, not even Rex: it must have at most 2 characters',
    ({ NewPet }) => (NewPet.properties.name = { type: 'string', const: 'Rex', maxLength: 2 }),
  ],
];

for (const [sentence, problem, edit] of refusals) {
  t.test(`${sentence} is an error`, async (t) => {
    const file = join(t.testdir({ 'petstore.yaml': edited(edit) }), 'petstore.yaml');
    const contract = await loadContract(file);
    t.throws(() => checkOperations({ ...contract, isStrict: true }, { toErrorBody, domain }), {
      name: 'ContractError',
      problems: [problem],
    });
  });
}

t.test('a default that would be rounded to a double is an error', async (t) => {
  const yaml = edited(({ NewPet }) => (NewPet.properties.weight = { type: 'number', default: 'exact' }));
  const file = join(t.testdir({ 'petstore.yaml': yaml.replace('"exact"', '9007199254740993') }), 'petstore.yaml');
  const contract = await loadContract(file);
  t.throws(() => checkOperations(contract, { toErrorBody, domain }), {
    name: 'ContractError',
    problems: ['operation createPet: its body.weight: default 9007199254740993 is too large to be kept exactly'],
  });
});

t.test('the build does not check values against a regular expression that could take years', async (t) => {
  const slow = { type: 'string', pattern: '^(a+)+$' };
  const text = `${'a'.repeat(60)}!`;
  const yaml = edited(({ NewPet }) => {
    const own = { ...slow, writeOnly: true };
    Object.assign(NewPet.properties, { code: { ...own, default: text }, size: { ...own, enum: [text] } });
  });
  const contract = await loadContract(join(t.testdir({ 'petstore.yaml': yaml }), 'petstore.yaml'));
  t.equal(finished(contract).operations.size, 3);
});

t.test(
  "if no value fits the enum of a reply's field, the error names the field and a value that does not fit",
  async (t) => {
    const yaml = edited(({ Pet }) => (Pet.properties.status = { type: 'string', enum: [true] }));
    const contract = await loadContract(join(t.testdir({ 'petstore.yaml': yaml }), 'petstore.yaml'));
    t.throws(() => checkOperations(contract, { toErrorBody, domain }), {
      name: 'ContractError',
      problems: [
        'operation listPets: response 200: body.status: allows nothing, not even true: it must be of type string',
        'operation createPet: response 201: body.status: allows nothing, not even true: it must be of type string',
        'operation getPet: response 200: body.status: allows nothing, not even true: it must be of type string',
      ],
    });
  },
);

t.test(
  'the server sends an error reply as the contract declares its status, or else its range, or else `default`',
  async (t) => {
    const yaml = edited(({ createPet, headers }) => {
      const { responses } = createPet;
      const retryAfter = { ...headers['Retry-After'], required: true };
      responses['503'] = { ...responses.default, headers: { 'Retry-After': retryAfter } };
      responses['4XX'] = responses['413'];
      delete responses['413'];
      responses['5XX'] = { description: 'No JSON.' };
    });
    const contract = await loadContract(join(t.testdir({ 'petstore.yaml': yaml }), 'petstore.yaml'));
    t.equal(finished(contract).operations.size, 3);
  },
);

t.test(
  "the lint reports each status and header of the server's error replies that the contract does not declare",
  async (t) => {
    const yaml = edited(({ listPets, getPet, components }) => {
      delete components.responses.Unauthorized.content;
      delete components.responses.IdempotencyKeyReused.headers['RateLimit-Policy'];
      delete listPets.responses.default;
      delete listPets.responses['429'];
      delete listPets.responses['403'];
      delete getPet.responses['404'].headers['X-Request-Id'];
      getPet.security = [];
      for (const status of ['401', '403', '429']) delete getPet.responses[status];
      delete getPet.responses.default;
      getPet.responses['5XX'] = getPet.responses['400'];
    });
    const contract = await loadContract(join(t.testdir({ 'petstore.yaml': yaml }), 'petstore.yaml'));
    t.strictSame(wordsOf(findUndeclared(contract, domain)), [
      'operation listPets: no response declares 403, 408, 414, 417, 429, 431, 500, 503, which are sent',
      'operation listPets: response 401: the body of an error is sent, and not declared',
      'operation createPet: response 401: the body of an error is sent, and not declared',
      'operation createPet: response 422: header RateLimit-Policy is sent, and not declared',
      'operation getPet: no response declares 408, 410, 414, 417, 431, which are sent',
      'operation getPet: response 404: header X-Request-Id is sent, and not declared',
      'operation getPet: response 5XX: header Retry-After is sent, and not declared',
    ]);
    t.strictSame(wordsOf(findUndeclared(await readOurs(), domain)), []);
  },
);

t.test(
  'a built service starts without compiling a schema check, because the build has compiled them all',
  async (t) => {
    const { contract } = await loadOurs();
    const compiled = t.capture(Ajv2020.prototype, 'compile', Ajv2020.prototype.compile);
    const { compileNext } = compileOperations(contract, { toErrorBody });
    t.equal(compiled().length, 0);
    checkOperations(await readOurs(), { toErrorBody, domain });
    const { length } = compiled();
    t.ok(length > 3, `${length} checks`);
    while (compileNext());
    t.ok(compiled().length > 3);
  },
);

t.test(
  'a server compiles its remaining schema checks one after the other while it runs, until all are done or it closes',
  async (t) => {
    const { contract, compiled } = await loadOurs();
    const start = (compileNext: () => boolean) =>
      startService(t, { contract, compiled: Object.assign(new Map(compiled), { compileNext }) });
    const parts = ['first', 'second', 'third'];
    const { request } = await start(() => parts.shift() !== undefined);
    while (parts.length > 0) t.equal((await request('/v1/pets')).status, 200);
    let count = 0;
    const { app } = await start(() => ++count > 0);
    while (count < 3) await setImmediate();
    await app.close();
    const atClose = count;
    for (let turn = 0; turn < 3; turn++) await setImmediate();
    t.equal(count, atClose);
  },
);
