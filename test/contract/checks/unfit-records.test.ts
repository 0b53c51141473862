import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { checkOperations } from '../../../src/contract-first/contract/checks/checked-operations.ts';
import { finishFile } from '../../../src/contract-first/contract/finish.ts';
import { ContractError } from '../../../src/contract-first/engine/contract/contract.ts';
import { notImplemented } from '../../../src/contract-first/engine/errors/catalogue.ts';
import { toErrorBody } from '../../../src/contract-first/engine/errors/error-body.ts';
import type { AnyDomain, Column } from '../../../src/contract-first/store/tables/description.ts';
import { domain as ours } from '../../../src/generated/domain.ts';
import { load, operation, withPaths, wordsOf } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { type Edit, edited } from '../../edited-contract.ts';

/** The errors and warnings with which the build ends. */
async function judge(
  t: Test,
  yaml: string,
  domain: AnyDomain = ours,
  isLinear = true,
  unimplemented = new Set<string>(),
): Promise<{ errors: string[]; warnings: string[] }> {
  try {
    const warnings = checkOperations(await load(t, yaml), { toErrorBody, domain, isLinear, unimplemented });
    return { errors: [], warnings: wordsOf(warnings) };
  } catch (error) {
    if (error instanceof ContractError) return { errors: error.problems, warnings: [] };
    throw error;
  }
}

/** The pets' domain with more columns. */
function withColumns(columns: Record<string, Partial<Column>>): AnyDomain {
  const more = Object.entries(columns).map(([name, column]) => [name, column as Column]);
  return { pets: { ...ours.pets, columns: { ...ours.pets.columns, ...Object.fromEntries(more) } } };
}

const content = (schema: Json) => ({ 'application/json': { schema } });
const PET = { content: content({ $ref: '#/components/schemas/Pet' }) };
const TEXT = { type: 'string', pattern: '^[^\\x00]*$' };
const INT64 = { type: 'integer', format: 'int64' };
const PET_ID = { name: 'petId', in: 'path', required: true, schema: { $ref: '#/components/schemas/PetId' } };

/** The contract with an operation on one animal, whose request body has these fields. */
const withBody = (method: string, properties: Json, edit: Edit = () => {}) =>
  withPaths(
    {
      '/animals/{petId}': {
        parameters: [PET_ID],
        [method]: operation('change', {
          requestBody: { required: true, content: content({ type: 'object', properties }) },
          responses: { '200': PET },
        }),
      },
    },
    edit,
  );

const refusedBy = (place: string, value: string, problem: string) =>
  `${place}: ${value} is let in, and not stored by schema Pet: it ${problem}`;

t.test('if a request body allows a value that its record does not, the build fails and prints a value', async (t) => {
  const body = 'operation createPet: its body';
  const zip =
    (schema: Json): Edit =>
    ({ Pet, NewPet }) => {
      NewPet.properties.address = { type: 'object', properties: { zip: TEXT, lines: { type: 'array', items: TEXT } } };
      Pet.properties.address = {
        type: 'object',
        properties: { zip: TEXT, lines: { type: 'array', items: TEXT } },
        ...schema,
      };
    };
  const withAddress = withColumns({ address: { type: 'json', isOptional: true } });
  const field =
    (given: Json, stored: Json): Edit =>
    ({ Pet, NewPet }) => {
      NewPet.properties.more = given;
      Pet.properties.more = stored;
    };
  const withMore = withColumns({ more: { type: 'json', isOptional: true } });
  // biome-ignore format: a table
  const cases: [edit: Edit, errors: string[], domain?: AnyDomain][] = [
    [({ Pet }) => (Pet.properties.categoryId = { ...INT64, maximum: 1000 }),
      [refusedBy(`${body}.categoryId`, '1001', 'must be at most 1000')]],
    [({ Pet }) => (Pet.properties.categoryId = { ...INT64, maximum: 2 ** 60 }),
      [refusedBy(`${body}.categoryId`, '"1152921504606847001"', 'must be at most 1152921504606847000')]],
    [({ Pet }) => (Pet.properties.name = { ...TEXT, maxLength: 100 }),
      [refusedBy(`${body}.name`, 'a text of 101 characters', 'must have at most 100 characters')]],
    [({ Pet }) => (Pet.properties.name = { ...TEXT, pattern: '^[A-Z]' }),
      [refusedBy(`${body}.name`, '"x"', 'must match ^[A-Z]')]],
    [({ Pet }) => (Pet.properties.name = { allOf: [TEXT, { format: 'date' }] }),
      [refusedBy(`${body}.name`, '"Rex"', 'must match format "date"')]],
    [zip({ properties: { zip: { ...TEXT, maxLength: 5 } } }),
      [refusedBy(`${body}.address.zip`, '"xxxxxx"', 'must have at most 5 characters')], withAddress],
    [zip({ properties: { lines: { type: 'array', items: { ...TEXT, minLength: 1 } } } }),
      [refusedBy(`${body}.address.lines`, '""', 'must have at least 1 characters')], withAddress],
    [zip({ properties: { lines: { type: 'array', items: TEXT, maxItems: 2 } } }),
      [refusedBy(`${body}.address.lines`, '["","",""]', 'must have at most 2 items')], withAddress],
    [zip({ additionalProperties: false }),
      [`${body}.address: {"another":""} is let in, and not stored by schema Pet: it.another is not a known field`], withAddress],
    [field({ type: ['number', 'null'] }, { type: 'number', minimum: 0.5 }),
      [refusedBy(`${body}.more`, '-1', 'must be at least 0.5')], withMore],
    [field({ type: 'number' }, { type: 'integer' }), [refusedBy(`${body}.more`, '0.5', 'must be of type integer')], withMore],
  ];
  for (const [edit, errors, domain] of cases) t.match((await judge(t, edited(edit), domain)).errors, errors, `${edit}`);
});

t.test(
  'if a PATCH or PUT body allows a value that its record does not, the build fails, except for null to remove a field',
  async (t) => {
    const longer = { name: { ...TEXT, minLength: 1, maxLength: 300 } };
    const reported = refusedBy(
      'operation change: its body.name',
      'a text of 256 characters',
      'must have at most 255 characters',
    );
    for (const method of ['patch', 'put']) {
      const all = { ...longer, categoryId: INT64 };
      t.strictSame(await judge(t, withBody(method, all)), { errors: [reported], warnings: [] }, method);
    }
    const right = {
      name: { $ref: '#/components/schemas/PetName' },
      status: { anyOf: [{ $ref: '#/components/schemas/PetStatus' }, { type: 'null' }] },
    };
    t.strictSame(await judge(t, withBody('patch', right)), { errors: [], warnings: [] });
    // The store merges objects into those of the record, and refuses the change if the result no longer fits.
    const zip = (schema: Json) => ({ type: 'object', properties: { zip: schema } });
    const addressed: Edit = ({ Pet }) => (Pet.properties.address = zip({ ...TEXT, maxLength: 5 }));
    t.strictSame(
      await judge(
        t,
        withBody('patch', { address: zip(TEXT) }, addressed),
        withColumns({ address: { type: 'json', isOptional: true } }),
      ),
      { errors: [], warnings: [] },
    );
    // The replies of the operation do not contain the record, but those of a GET of the same path do.
    const isRead: Edit = ({ paths }) => {
      const item = paths['/animals/{petId}'];
      item.patch.responses = {
        ...item.patch.responses,
        '200': { description: 'Done.', headers: item.patch.responses['200'].headers },
      };
      item.get = operation('getAnimal', { responses: { '200': PET } });
    };
    t.strictSame(await judge(t, withBody('patch', longer, isRead)), { errors: [reported], warnings: [] });
    // An operation whose body lacks a field of a new record may do something else than create one.
    t.strictSame(await judge(t, withBody('post', longer)), { errors: [], warnings: [reported] });
  },
);

t.test('if an id, time or revision set by the store does not fit its record or a reply, the build fails', async (t) => {
  const time = { type: 'string', format: 'date-time' };
  const [first, second] = ['"1970-01-01T00:00:00.000Z"', '"01234567-89ab-4cde-8f01-23456789abcd"'];
  const added =
    (schema: Json, ofReply: Json = schema): Edit =>
    ({ Pet, getPet }) => {
      Pet.properties.more = schema;
      getPet.responses['200'].content['application/json'] = {
        schema: { ...Pet, properties: { ...Pet.properties, more: ofReply } },
      };
    };
  const set = (column: Partial<Column>) => withColumns({ more: { isOptional: true, ...column } });
  const [created, changed] = [set({ type: 'time', set: 'created' }), set({ type: 'time', set: 'changed' })];
  const [revision, given] = [set({ type: 'int64', set: 'revision' }), set({ type: 'time' })];
  const uuid = withColumns({ id: { type: 'uuid', set: 'id' } });
  const of = (name: string, value: string, problem: string) =>
    `schema Pet: field ${name}: the store writes ${value}, which does not fit: it ${problem}`;
  const more = (value: string, problem: string) => of('more', value, problem);
  const sent = (value: string, problem: string) =>
    `operation getPet: response 200: body.more: ${value} may be stored by schema Pet, and not sent: it ${problem}`;
  const id =
    (schema: Json): Edit =>
    ({ PetId }) => {
      for (const key of Object.keys(PetId)) delete PetId[key];
      Object.assign(PetId, schema);
    };
  // biome-ignore format: a table
  const cases: [edit: Edit, domain: AnyDomain, errors: string[]][] = [
    [({ PetId }) => (PetId.minimum = 1000), ours, [of('id', '1', 'must be at least 1000')]],
    [({ PetId }) => (PetId.maximum = 9007199254740991), ours, []],
    [id({ type: 'string', format: 'uuid', maxLength: 30 }), uuid, [of('id', second, 'must have at most 30 characters')]],
    [id({ type: 'string', format: 'uuid', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }), uuid, []],
    [added(time), created, []],
    [added({ type: 'string', format: 'date' }), created, [more(first, 'must match format "date"')]],
    [added({ ...time, maxLength: 20 }), changed, [more(first, 'must have at most 20 characters')]],
    [added({ ...time, maxLength: 20 }), given, [more(first, 'must have at most 20 characters')]],
    [added(time, { ...time, maxLength: 20 }), given, [sent(first, 'must have at most 20 characters')]],
    [added(time, { ...time, maxLength: 20, writeOnly: true }), given, []],
    [added({ ...INT64, maximum: 99 }), revision, [more('1000000', 'must be at most 99')]],
    [added({ ...TEXT, maxLength: 3 }), set({ type: 'text', first: 'none' }), [more('"none"', 'must have at most 3 characters')]],
  ];
  for (const [edit, domain, errors] of cases)
    t.strictSame(await judge(t, edited(edit), domain), { errors, warnings: [] }, `${edit}`);
});

t.test('if a reply does not allow every value that its record may contain, the build fails', async (t) => {
  const reply =
    (name: Json, more: Json = {}): Edit =>
    ({ Pet, listPets, getPet }) => {
      const schema = { ...Pet, properties: { ...Pet.properties, name, ...more } };
      listPets.responses['200'].content['application/json'] = { schema: { type: 'array', items: schema } };
      getPet.responses['200'].content['application/json'] = { schema };
    };
  const reported = (id: string) =>
    `operation ${id}: response 200: body.name: a text of 101 characters may be stored by schema Pet, and not sent: it must have at most 100 characters`;
  const short = { ...TEXT, maxLength: 100 };
  const both = ['listPets', 'getPet'].map(reported);
  t.strictSame(await judge(t, edited(reply(short))), { errors: both, warnings: [] });
  // A reply with more fields than the record must be made by the handler, so this is only a warning.
  t.strictSame(await judge(t, edited(reply(short, { age: { type: 'integer' } }))), { errors: [], warnings: both });
  // The compiler reports fields of another type.
  for (const other of [{ type: 'integer' }, { enum: ['Ada'] }, {}])
    t.strictSame(await judge(t, edited(reply(other))), { errors: [], warnings: [] });
});

t.test("if stored records may break a reply's rule over several fields or over a list, the build fails", async (t) => {
  const narrowed =
    (rules: Json): Edit =>
    ({ Pet, getPet }) =>
      (getPet.responses['200'].content['application/json'].schema = { allOf: [Pet, rules] });
  const listed =
    (rules: Json, edit: Edit = () => {}): Edit =>
    (parts) => {
      parts.listPets.responses['200'].content['application/json'].schema = {
        type: 'array',
        items: parts.Pet,
        ...rules,
      };
      edit(parts);
    };
  const [of, ofList] = ['operation getPet: response 200: body', 'operation listPets: response 200: body'];
  const sent = (place: string, value: string, problem: string) =>
    `${place}: ${value} may be stored by schema Pet, and not sent: it ${problem}`;
  const least = '{"id":1,"name":"Rex","categoryId":7}';
  const withStatus = { required: ['status'] };
  const unproven = 'cannot be proven to take what schema Pet stores';
  // biome-ignore-start lint/suspicious/noThenProperty: a keyword of JSON Schema
  // biome-ignore format: a table
  const cases: [edit: Edit, errors: (string | RegExp)[], warnings?: (string | RegExp)[]][] = [
    [narrowed({ properties: { name: { maxLength: 2 } } }), [sent(`${of}.name`, '"Rex"', 'must have at most 2 characters')]],
    [narrowed(withStatus), [sent(of, least, '.status is missing').replace('it .', 'it.')]],
    [narrowed({ minProperties: 4 }), [/^operation getPet: response 200: body: .* must have at least 4 fields$/]],
    [narrowed({ maxProperties: 3 }), [/^operation getPet: response 200: body: .* must have at most 3 fields$/]],
    [narrowed({ not: withStatus }), [/^operation getPet: response 200: body: .*"status".* may be stored/]],
    [narrowed({ if: { properties: { status: { const: 'sold' } }, ...withStatus }, then: { properties: { categoryId: { maximum: 0 } } } }),
      [/^operation getPet: response 200: body: .*"status":"sold".* may be stored/]],
    [narrowed({ dependentRequired: { name: ['status'] } }), [/^operation getPet: response 200: body: .* may be stored/]],
    [narrowed({ not: { properties: { name: { const: 'Rex the first' } } } }), [], [`${of}: ${unproven}`]],
    [narrowed({ maxProperties: 4 }), []],
    [narrowed({ minProperties: 3 }), []],
    [listed({ contains: withStatus }), [sent(ofList, '[]', 'must contain at least 1 valid item(s)')]],
    [listed({ contains: withStatus, minContains: 0, maxContains: 9 }), [], [`${ofList}: ${unproven}`]],
    [listed({}, ({ Pet, listPets }) => (listPets.responses['200'].content['application/json'].schema.items = { allOf: [Pet, withStatus] })),
      [/^operation listPets: response 200: body: .* may be stored/]],
    // The server might answer with an empty list, because a list without pages may be empty.
    [listed({ minItems: 1 }, ({ listPets }) => (listPets.parameters = [])), [], [/its reply has a Link/, /^operation listPets: response 200: body: \[\] may be stored/].reverse()],
    // The schema of the record has the rule itself, so stored records keep it.
    [({ Pet }) => (Pet.minProperties = 3), []],
  ];
  // biome-ignore-end lint/suspicious/noThenProperty: a keyword of JSON Schema
  for (const [edit, errors, warnings = []] of cases)
    t.match(await judge(t, edited(edit)), { errors, warnings }, `${edit} ${JSON.stringify(errors)}`);
});

t.test('a reply that a record does not fit is only a warning while its handler is notImplemented', async (t) => {
  const yaml = edited(({ Pet, listPets }) => {
    const items = { allOf: [Pet, { required: ['status'] }] };
    listPets.responses['200'].content['application/json'].schema = { type: 'array', items };
  });
  const said = [/^operation listPets: response 200: body: .* may be stored/];
  t.match(await judge(t, yaml, ours, true, new Set(['getPet'])), { errors: said, warnings: [] });
  t.match(await judge(t, yaml, ours, true, new Set(['listPets'])), { errors: [], warnings: said });

  const { operations } = await load(t, yaml);
  const file = pathToFileURL(join(t.testdir({ 'contract.yaml': yaml }), 'contract.yaml'));
  const handlers = Object.fromEntries([...operations.keys()].map((id) => [id, notImplemented]));
  const parts = { toErrorBody, domain: ours };
  await t.resolves(finishFile(file, { ...parts, handlers }), 'the build agrees');
  await t.rejects(finishFile(file, { ...parts, handlers: { ...handlers, listPets: async () => {} } }), {
    message: /operation listPets: response 200: body: .* may be stored/,
  });
});

t.test("if any schema in a record's allOf restricts a field more than the request body, the build fails", async (t) => {
  const edit: Edit = ({ schemas }) => {
    schemas.Base = schemas.Pet;
    schemas.Pet = { allOf: [{ $ref: '#/components/schemas/Base' }, { properties: { name: { maxLength: 100 } } }] };
  };
  const reported = refusedBy(
    'operation createPet: its body.name',
    'a text of 101 characters',
    'must have at most 100 characters',
  );
  t.match((await judge(t, edited(edit))).errors, [reported]);
});

t.test('the build fails if a request body can break a rule of the record that combines several fields', async (t) => {
  const problemOf = (value: RegExp | string, problem: string) =>
    new RegExp(`^operation createPet: its body: .*${value}.* is let in, and not stored by schema Pet: it.*${problem}$`);
  const withStatus = { required: ['status'] };
  // biome-ignore format: a table
  const cases: [edit: Edit, problem: RegExp | undefined][] = [
    [({ Pet }) => (Pet.minProperties = 4), problemOf('"name"', 'must have at least 4 fields')],
    [({ Pet }) => (Pet.maxProperties = 3), problemOf('"status"', 'must have at most 3 fields')],
    [({ Pet }) => (Pet.dependentRequired = { name: ['status'] }), problemOf('"name"', 'when property name is present')],
    [({ Pet }) => (Pet.not = withStatus), problemOf('"status"', '')],
    [({ Pet }) => (Pet.required = [...Pet.required, 'status']), undefined],
    // A field with a default is always there.
    [({ Pet, NewPet }) => { Pet.minProperties = 4; NewPet.properties.status = { type: 'string', enum: ['sold'], default: 'sold' }; }, undefined],
    [({ Pet, NewPet }) => { Pet.not = NewPet.not = withStatus; }, undefined],
  ];
  for (const [edit, problem] of cases)
    t.match((await judge(t, edited(edit))).errors, problem ? [problem] : [], `${edit}`);
  const four: Edit = ({ Pet }) => (Pet.minProperties = 4);
  const all = { name: { $ref: '#/components/schemas/PetName' }, categoryId: INT64 };
  for (const method of ['put', 'post'])
    t.match(await judge(t, withBody(method, all, four)), method === 'put' ? { errors: [] } : {});
  // A body that breaks the rule of the request is refused, so it cannot be stored.
  const both: Edit = ({ Pet, NewPet }) => {
    Pet.minProperties = 4;
    NewPet.allOf = [{ minProperties: 3 }];
  };
  t.strictSame((await judge(t, edited(both))).errors, []);
  // A pattern that may be slow is tried on short texts only.
  const slow: Edit = ({ Pet, PetName }) => {
    Object.assign(PetName, { pattern: '^(x+x+)+$', maxLength: 100, examples: ['xx'] });
    Pet.minProperties = 4;
  };
  t.match((await judge(t, edited(slow), ours, false)).errors, [/^operation createPet: its body: .*"xx".* is let in/]);
});

t.test('if clients may send an id, in a path or a body, that the record does not allow, the build fails', async (t) => {
  const slug = { type: 'string', minLength: 1, maxLength: 50, pattern: '^[a-z]+$' };
  const withSlug = (given: Json, more: Json = {}) =>
    withPaths(
      {
        '/notes/{slug}': {
          parameters: [{ name: 'slug', in: 'path', required: true, schema: given }],
          put: operation('putNote', {
            requestBody: { required: true, content: content({ type: 'object', properties: { text: TEXT, ...more } }) },
            responses: { '200': { content: content({ $ref: '#/components/schemas/Note' }) } },
          }),
        },
      },
      ({ schemas }) => (schemas.Note = { type: 'object', required: ['slug'], properties: { slug, text: TEXT } }),
    );
  const columns = {
    slug: { column: 'slug', type: 'text', is: 'id' },
    text: { column: 'text', type: 'text', isOptional: true },
  } as const;
  const domain = { ...ours, notes: { ...ours.pets, schema: 'Note', table: 'notes', lists: {}, columns } } as AnyDomain;
  const reported =
    'operation putNote: parameter slug: a text of 51 characters is let in, and not stored by schema Note: it must have at most 50 characters';
  t.strictSame(await judge(t, withSlug({ ...slug, maxLength: 60 }), domain), { errors: [reported], warnings: [] });
  t.strictSame(await judge(t, withSlug(slug), domain), { errors: [], warnings: [] });
  t.strictSame(await judge(t, withSlug({ type: 'string' }, { slug }), domain), { errors: [], warnings: [] });
});

t.test('if the build cannot prove that a request body fits its record, it warns and names the field', async (t) => {
  const unproven = 'cannot be proven to fit schema Pet, which stores it';
  const pattern =
    (given: string, stored: string): Edit =>
    ({ Pet, NewPet }) => {
      NewPet.properties.name = { type: 'string', minLength: 1, pattern: given };
      Pet.properties.name = { type: 'string', minLength: 1, pattern: stored };
    };
  const body = 'operation createPet: its body';
  const nested: Edit = ({ schemas, Pet, NewPet }) => {
    schemas.Node = { type: 'object', properties: { up: { $ref: '#/components/schemas/Node' } } };
    schemas.Leaf = { type: 'object', properties: { up: { $ref: '#/components/schemas/Leaf' }, x: {} } };
    NewPet.properties.more = { $ref: '#/components/schemas/Node' };
    Pet.properties.more = { $ref: '#/components/schemas/Leaf' };
  };
  const withMore = withColumns({ more: { type: 'json', isOptional: true } });
  // biome-ignore format: a table
  const cases: [edit: Edit, warnings: string[], domain?: AnyDomain][] = [
    [pattern('^PET-[0-9]+$', '^PET-[0-9][0-9]*$'), [`${body}.name: ${unproven}`]],
    [({ Pet }) => (Pet.maxProperties = 4), [`${body}: ${unproven}`]],
    [({ Pet, NewPet }) => { Pet.not = NewPet.not = { required: ['status'] } }, []],
    [nested, [`${body}.more.up: ${unproven}`], withMore],
  ];
  for (const [edit, warnings, domain] of cases)
    t.strictSame(await judge(t, edited(edit), domain), { errors: [], warnings }, `${edit}`);
  // The patterns have not been checked to be fast, so no long text is tried.
  const longer: Edit = ({ Pet, PetName }) => (Pet.properties.name = { ...PetName, maxLength: 100 });
  t.strictSame(await judge(t, edited(longer), ours, false), { errors: [], warnings: [`${body}.name: ${unproven}`] });
});

t.test('if the proof that a request body fits its record would take too long, the build only warns', async (t) => {
  // To compare two lists of alternatives, each of the one is compared with each of the other.
  const alternatives = (count: number, first: number): Json => ({
    anyOf: Array.from({ length: count }, (_, index) => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 5 }, (_, at) => [`f${at}`, { enum: ['a', 'b', 'c', `${index + first}`] }]),
      ),
    })),
  });
  const names = ['one', 'two', 'three', 'four'];
  const edit: Edit = ({ schemas, Pet, NewPet }) => {
    Object.assign(schemas, { Given: alternatives(200, 1), Stored: alternatives(200, 0) });
    for (const name of names) {
      NewPet.properties[name] = { $ref: '#/components/schemas/Given' };
      Pet.properties[name] = { $ref: '#/components/schemas/Stored' };
    }
  };
  const columns = Object.fromEntries(names.map((name) => [name, { type: 'json', isOptional: true } as const]));
  const reported = ['one', 'two', 'three'].map(
    (name) => `operation createPet: its body.${name}: cannot be proven to fit schema Pet, which stores it`,
  );
  const end =
    'requests, records and replies are compared in 100000 steps, and not all were: their schemas are too large';
  t.strictSame(await judge(t, edited(edit), withColumns(columns)), { errors: [], warnings: [...reported, end] });
});

t.test("if a list's sort order can make cursors longer than their parameter allows, the build fails", async (t) => {
  const ordered = (
    orders: Record<string, string | string[]>,
    columns: Record<string, Partial<Column>> = {},
  ): AnyDomain => {
    const { pets } = withColumns(columns);
    return { pets: { ...pets, lists: { orders } } as AnyDomain[string] };
  };
  const by =
    (...names: string[]): Edit =>
    ({ listPets }) =>
      listPets.parameters.push(
        { name: 'order', in: 'query', schema: { type: 'string', enum: names } },
        { name: 'X-Order', in: 'header', schema: { type: 'string', enum: ['other'] } },
      );
  const after = 'operation listPets: parameter after: cannot be the cursor of the order';
  const short = (order: string, length: number) =>
    `${after} ${order}, which may have ${length} characters: it must have at most 64 characters`;
  const [byName, newest] = [
    ordered({ name: 'name', id: '-id' }),
    ordered({ newest: '-addedAt' }, { addedAt: { type: 'time', set: 'created' } }),
  ];
  const addedAt: Edit = ({ Pet }) => (Pet.properties.addedAt = { type: 'string', format: 'date-time' });
  const all =
    (...edits: Edit[]): Edit =>
    (parts) => {
      for (const edit of edits) edit(parts);
    };
  const kind =
    (schema: Json): Edit =>
    ({ Pet }) =>
      (Pet.properties.kind = schema);
  const longEnough: Edit = ({ after: { schema } }) => (schema.maxLength = 4000);
  // biome-ignore format: a table
  const cases: [edit: Edit, domain: AnyDomain, errors: string[], warnings?: string[], isLinear?: boolean][] = [
    [by('name'), byName, [short('name', 1404)]],
    [by('name', 'id'), byName, [short('name', 1404)]],
    [all(by('name'), longEnough), byName, []],
    [by('name'), byName, [], [], false],
    // If a list is sorted by several fields, or by a field that may be absent, its cursor is a list.
    [by('both'), ordered({ both: ['status', '-categoryId'] }), [short('both', 92)]],
    [all(by('newest'), addedAt), newest, [short('newest', 76)]],
    // Nothing in the contract says whether the handler uses this order.
    [addedAt, newest, [], [short('newest', 76)]],
    [all(by('kind'), kind({ ...TEXT, format: 'uuid' })), ordered({ kind: 'kind' }, { kind: { type: 'uuid' } }), [short('kind', 92)]],
    [all(by('kind'), kind({ type: 'integer', format: 'int32' })), ordered({ kind: 'kind' }, { kind: { type: 'int32' } }), []],
    [all(by('kind'), kind({ type: 'number' })), ordered({ kind: 'kind' }, { kind: { type: 'number' } }), [short('kind', 70)]],
    [() => {}, { pets: { ...ours.pets, lists: undefined } as unknown as AnyDomain[string] }, []],
  ];
  for (const [edit, domain, errors, warnings = [], isLinear = true] of cases)
    t.strictSame(await judge(t, edited(edit), domain, isLinear), { errors, warnings }, `${edit}`);
});

t.test('if a list links to a next page but has no query parameter for the cursor, the build warns', async (t) => {
  const yaml = edited(({ listPets, after }) => listPets.parameters.splice(listPets.parameters.indexOf(after), 1));
  const words = 'its reply has a Link, and no query parameter with x-opaque: true takes the cursor of a next page';
  t.strictSame(await judge(t, yaml), { errors: [], warnings: [`operation listPets: ${words}`] });
});
