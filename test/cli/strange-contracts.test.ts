/** Names and texts of a third-party contract never become code or change other types. */
import { pathToFileURL } from 'node:url';
import t from 'tap';
import ts from 'typescript';
import { stringify } from 'yaml';
import { nameTargets } from '../../src/contract-first/cli/generate/contract-schemas.ts';
import { buildTypes } from '../../src/contract-first/cli/generate/contract-types.ts';
import { buildDomain } from '../../src/contract-first/cli/generate/service-files.ts';
import { load } from '../added-operations.ts';
import type { Json } from '../any-json.ts';

const RESPONSES = { '200': { description: 'Yes.' } };

const toYaml = (paths: Json, more: Json = {}) =>
  stringify({ openapi: '3.1.1', info: { title: 'A', version: '1.0.0' }, paths, ...more });

/** Returns the kinds of statements in the generated types. */
async function kindsOf(document: Json): Promise<string[]> {
  const { statements } = ts.createSourceFile('types.ts', (await buildTypes(document)).text, ts.ScriptTarget.Latest);
  return [...new Set(statements.map(({ kind }) => ts.SyntaxKind[kind] as string))].sort();
}

t.test('a text in a contract that looks like code stays a text in the generated types', async (t) => {
  const evil = "a'; console.log('owned'); type B = '*/";
  const paths = {
    '/': {
      'x-evil': { operationId: evil, security: [], parameters: 'none' },
      'x-nothing': null,
      summary: evil,
      get: { operationId: 'read', summary: evil, description: evil, responses: RESPONSES, 'x-evil': evil },
    },
    // The asterisk is removed, because a path with one is rejected.
    [`/${evil.replace('*', '')}`]: { get: { operationId: evil, responses: RESPONSES } },
  };
  const webhooks = { [evil]: { 'x-nothing': null, post: { operationId: evil, responses: RESPONSES } } };
  const schemas = { Evil: { type: 'string', enum: [evil], description: evil, 'x-extensible-enum': [evil] } };
  const { document } = await load(t, toYaml(paths, { webhooks, components: { schemas } }));
  t.strictSame(await kindsOf(document), ['InterfaceDeclaration', 'TypeAliasDeclaration']);
});

const INHERITED = [...Object.getOwnPropertyNames(Object.prototype), 'prototype'];

t.test('a schema may have the name of an inherited JavaScript property, such as toString', async (t) => {
  for (const name of INHERITED) {
    const $ref = `#/components/schemas/${name}/properties/${name}`;
    const schema = { type: 'object', required: [name], properties: { [name]: { type: 'string' } } };
    const schemas = { [name]: schema, other: { type: 'object', properties: { inner: { $ref } } } };
    const parameters = [{ in: 'query', name, schema: { type: 'integer' } }];
    const paths = { [`/${name}`]: { get: { operationId: 'read', parameters, responses: RESPONSES } } };
    const { document } = await load(t, toYaml(paths, { components: { schemas } }));
    const types = (await buildTypes(document)).text.replace(/\s+/g, ' ');
    t.match(types, `schemas: { ${name}: { ${name}: string; }; `, name);
    t.match(types, `query?: { ${name}?: number; }; `);
    t.match(types, /inner\?: components\["schemas"\]\["(\w+)"\]; \}; \1: string; /);
    t.match(types, `"/${name}": { parameters`);
  }
});

t.test('nullable has no effect in OpenAPI 3.1, not even on the generated types', async (t) => {
  const properties = { n: { type: 'integer', nullable: true }, nullable: { type: 'string', nullable: true } };
  const { document } = await load(t, toYaml({}, { components: { schemas: { A: { type: 'object', properties } } } }));
  t.match((await buildTypes(document)).text, /n\?: number;\s+nullable\?: string;/);
});

t.test('the generated type of an int64 is bigint even if no double can hold its maximum', async (t) => {
  const n = { type: 'integer', format: 'int64', minimum: 1, maximum: 9223372036854775807n, default: 9007199254740993n };
  const parameters = [{ in: 'query', name: 'n', schema: n }];
  const paths = { '/': { get: { operationId: 'read', parameters, responses: RESPONSES } } };
  const { document } = await load(t, toYaml(paths));
  t.match((await buildTypes(document)).text, /n: bigint;/);
});

t.test('if a $ref leads into a schema, the generated types contain a named type for the target', async (t) => {
  const ref = (rest: string) => ({ $ref: `#/components/${rest}` });
  const schemas = {
    A: {
      type: 'object',
      properties: {
        x: { type: 'object', properties: { y: { type: 'boolean' } } },
        $defs: { type: 'string' },
        again: ref('schemas/A/properties/x/properties/y'),
        twice: ref('schemas/A/properties/x/properties/y'),
        other: ref('schemas/A/$defs/x/properties/y'),
        header: ref('headers/H/schema'),
      },
      $defs: { x: { properties: { y: { type: 'integer' } } } },
      default: ref('schemas/A/properties/x'),
    },
  };
  const headers = { H: { schema: { type: 'number' } } };
  const paths = { '/': { get: { operationId: 'read', responses: RESPONSES } } };
  const { document } = await load(t, toYaml(paths, { components: { schemas, headers } }));
  const types = (await buildTypes(document)).text.replace(/\s+/g, ' ');
  t.match(types, 'again?: components["schemas"]["A_x_y"]; twice?: components["schemas"]["A_x_y"]; ');
  t.match(types, / other\?: components\["schemas"\]\["(A_x_y_[0-9]+)"\]; .* A_x_y: boolean; \1: number; /);
  t.match(types, / header\?: components\["schemas"\]\["headers_H"\]; .* headers_H: number; /);
  t.match(types, '$defs?: string;');
  t.notMatch(types, '$defs: {');
});

t.test('a generated type keeps all fields of a base schema that has a discriminator but no oneOf', async (t) => {
  const child = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${name}` }] });
  const base = { type: 'object', properties: { kind: { type: 'string' } }, discriminator: { propertyName: 'kind' } };
  const schemas = { Base: base, Child: child('Base'), Grandchild: child('Child') };
  const { document } = await load(t, toYaml({}, { components: { schemas } }));
  t.match(
    (await buildTypes(document)).text.replace(/\s+/g, ' '),
    'Child: components["schemas"]["Base"]; Grandchild: components["schemas"]["Child"]; ',
  );
});

t.test("types are generated even if an unused schema's discriminator maps to schemas that do not exist", async (t) => {
  const A = { type: 'object', properties: { kind: { type: 'string' } } };
  const mapping = { a: '#/components/schemas/A', b: '#/components/schemas/B', c: 'C' };
  const Any = { oneOf: [{ $ref: '#/components/schemas/A' }], discriminator: { propertyName: 'kind', mapping } };
  const { document } = await load(t, toYaml({}, { components: { schemas: { A, Any } } }));
  t.match((await buildTypes(document)).text.replace(/\s+/g, ' '), 'Any: components["schemas"]["A"]; ');
});

t.test('if an array schema contains itself, the generated types contain an interface for it', async (t) => {
  const itself = { $ref: '#/components/schemas/A' };
  const forms: [Json, RegExp][] = [
    [
      { type: 'array', items: itself },
      /schemas: \{ A: List1; \}; .*\ninterface List1 extends Array<components\['schemas'\]\['A'\]> \{\}\n/s,
    ],
    [
      { type: 'array', prefixItems: [itself] },
      / A: List1; A_item: components\["schemas"\]\["A"\]; .*\['A_item'\]> \{\}/s,
    ],
    [{ type: ['array', 'null'], items: { type: 'array', items: itself } }, / A: List1 \| null; A_item: List2; /],
    [
      { type: 'array', items: { type: 'object', properties: { a: itself } } },
      / A: \{ a\?: components\["schemas"\]\["A"\]; \}\[\]; /,
    ],
  ];
  for (const [schema, expected] of forms) {
    const { document } = await load(t, toYaml({}, { components: { schemas: { A: schema } } }));
    t.match((await buildTypes(document)).text.replace(/ *\n +/g, ' ').replace(/\n *\};?/g, ' }'), expected);
  }
});

t.test('a $ref to the name of an inherited JavaScript property, such as toString, is an error', async (t) => {
  for (const name of ['toString', 'constructor/name', '__proto__']) {
    const $ref = `#/components/schemas/${name}`;
    const content = { 'application/json': { schema: { $ref } } };
    const paths = { '/': { get: { operationId: 'read', responses: { '200': { description: 'Yes.', content } } } } };
    const problems = [`operation read: $ref ${$ref} is not in this document`];
    t.match(await load(t, toYaml(paths, { components: { schemas: {} } })).catch((error) => error), { problems }, name);
  }
});

t.test('if `generate` invents a name for a schema, no other schema has this name', async (t) => {
  const string = { type: 'string' };
  const a = { type: 'object', properties: { x: { type: 'integer' } } };
  const b = { type: 'object', properties: { y: { $ref: '#/components/schemas/a/properties/x' } } };
  const schemas = { a_x: string, a_x_2: string, a_x_4: string, a_x_5: string, a, b };
  const { document } = await load(t, toYaml({}, { components: { schemas } }));
  const types = (await buildTypes(document)).text;
  for (const name of ['a_x', 'a_x_2', 'a_x_4', 'a_x_5']) t.match(types, ` ${name}: string;`);
  t.match(types, / a_x_3: number;/);
});

t.test('`generate` does not change a $ref that is not correctly percent-encoded', async (t) => {
  const { document } = await load(t, toYaml({}));
  const schemas = { a: { $ref: '#/components/schemas/100%' } };
  const named = { ...document, components: { schemas: structuredClone(schemas) } };
  nameTargets(named);
  t.strictSame(named.components.schemas, schemas);
});

t.test('if an unused component contains something other than a schema, the error names the component', async (t) => {
  const schemas = { A: { oneOf: ['#/components/schemas/B'] }, B: { properties: { b: { items: 'text' } } } };
  const { document } = await load(t, toYaml({}, { components: { schemas } }));
  const problems = [
    'schema A: value: must be a schema, or true or false',
    'schema B: value.b: items must be a schema, or true or false',
  ];
  t.match(await buildTypes(document).catch((error) => error), { problems });
});

t.test('the generated type of an object accepts declared fields that do not fit additionalProperties', async (t) => {
  const [string, integer] = [{ type: 'string' }, { type: 'integer' }];
  const schemas = {
    A: { type: 'object', properties: { a: string, b: string }, additionalProperties: integer },
    B: { type: 'object', properties: { a: string }, patternProperties: { '^x': integer }, additionalProperties: false },
    C: { type: 'object', properties: { a: string }, additionalProperties: string },
    D: { type: 'object', properties: { a: string }, additionalProperties: {} },
  };
  const { document } = await load(t, toYaml({}, { components: { schemas } }));
  const types = (await buildTypes(document)).text.replace(/\s+/g, ' ');
  t.match(types, ' A: { a?: string; b?: string; } & { [key: string]: number | string; };');
  t.match(types, ' B: { a?: string; } & { [key: string]: number | string; };');
  t.match(types, ' C: { a?: string; } & { [key: string]: string; };');
  t.match(types, ' D: { a?: string; } & { [key: string]: unknown; };');
});

t.test('in a project without a domain.ts, `generate` writes an empty domain', async (t) => {
  const made = buildDomain(pathToFileURL(`${t.testdir({ books: {} })}/`));
  t.match(made.text, 'export const domain = {};\nexport const errors = addErrors({});');
});

t.test('a field with the name $ref is in the generated type', async (t) => {
  const Member = { type: 'object', properties: { $ref: { type: 'string' } }, required: ['$ref'] };
  const { document } = await load(t, toYaml({}, { components: { schemas: { Member } } }));
  t.match((await buildTypes(document)).text, /Member: \{\s+\$ref: string;/);
});
