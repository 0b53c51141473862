/** Writes the contract as TypeScript types, with `bigint` for 64-bit integers, as in the server. */
import { randomBytes } from 'node:crypto';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { reportKeywordTypes } from '../../contract/read/keyword-types.ts';
import { ContractError } from '../../engine/contract/contract.ts';
import { type Document, type HeaderNode, operationsOf, type ParameterNode } from '../../engine/contract/document.ts';
import { toDoubles } from '../../engine/contract/numbers.ts';
import {
  type ContractProblem,
  isNode,
  type Keywords,
  keywordsOf,
  type ReportProblem,
  reportIn,
  type Schema,
} from '../../engine/schema/json.ts';
import { isNames, lookUp } from '../../engine/schema/keys.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { LIST, type Listed, nameTargets, toListTypes } from './contract-schemas.ts';
import { type CheckedCode, code, joined, printed } from './source-text.ts';

/** The TypeScript type of a 64-bit integer, and the types of other values that its schema may also allow. */
const INT64_TYPES = {
  integer: ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword),
  string: ts.factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword),
  boolean: ts.factory.createKeywordTypeNode(ts.SyntaxKind.BooleanKeyword),
  null: ts.factory.createLiteralTypeNode(ts.factory.createNull()),
};

const BYTES = ts.factory.createTypeReferenceNode('AsyncIterable', [ts.factory.createTypeReferenceNode('Uint8Array')]);

/**
 * Matches names that are also properties of every JavaScript object, such as `constructor`. openapi-typescript would
 * find the inherited property instead of a schema or a key with this name.
 */
const INHERITED =
  /(?<=["/])(hasOwnProperty|isPrototypeOf|propertyIsEnumerable|to(Locale)?String|valueOf|constructor|__\w+__)(?=["/])/g;
/** Matches the JSON strings that are searched for `INHERITED`: a reference, or a single word. */
const NAMING = /"#\/(?:[^"\\]|\\.)*"(?!:)|"\w+"/g;
/**
 * A random text that no contract contains. `withMarks` puts it before inherited names, and `printed` removes it from
 * the finished types.
 */
const MARK = `name_${randomBytes(16).toString('hex')}_`;

const withMarks = (json: string) => json.replace(NAMING, (text) => text.replace(INHERITED, `${MARK}$&`));

/** Writes the types. @throws ContractError that lists faulty schemas among the components */
export async function buildTypes(contract: Document): Promise<CheckedCode> {
  // `toDoubles`, because openapi-typescript writes limits and defaults as JSON, which does not support `bigint`.
  const document: Document = JSON.parse(withMarks(JSON.stringify(toDoubles(contract))));
  checkComponents(document);
  nameTargets(document);
  const lists = toListTypes(document);
  const { paths = {}, components = {}, webhooks = {} } = document;
  // The server never handles webhooks, so handlers do not need the types of their operations.
  for (const [, operation] of Object.values(webhooks).flatMap(operationsOf)) delete operation.operationId;
  Object.values(components.parameters ?? {}).forEach(plain);
  for (const item of Object.values(paths)) {
    for (const node of [item, ...operationsOf(item).map(([, operation]) => operation)]) node.parameters?.forEach(plain);
  }
  visit(document, (node, hasNames) => {
    inlineHeaders(node, document);
    markReferences(node, document);
    dropUntyped(node, hasNames);
    if (!hasNames) widenOthers(node);
    pointMappings(node, document);
  });
  const nodes = await openapiTS(document as OpenAPI3, {
    alphabetize: false,
    emptyObjectsUnknown: true,
    readWriteMarkers: true,
    transform(schema) {
      // A schema may also be `true` or `false`.
      const { type = [], format, 'x-extensible-enum': codes, [LIST]: list }: Listed = Object(schema);
      if (list && type === 'array') return ts.factory.createTypeReferenceNode(list);
      const types = [type].flat();
      if (types.includes('integer') && format === 'int64') {
        return ts.factory.createUnionTypeNode(types.map((type) => INT64_TYPES[type as keyof typeof INT64_TYPES]));
      }
      if (format === 'binary') return BYTES;
      if (codes) {
        return ts.factory.createUnionTypeNode(
          codes.map((code) => ts.factory.createLiteralTypeNode(ts.factory.createStringLiteral(code))),
        );
      }
      return undefined;
    },
  });
  return code`${printed(astToString(nodes), nodes.flatMap(identifiersIn), MARK)}${lists}/** The operations that may be called without a key. */
export type OpenOperation = ${toOpen(document)};
`;
}

/** Returns all identifiers in a type, because some of them are names from the contract. */
function identifiersIn(node: ts.Node): string[] {
  const inside: string[] = ts.isIdentifier(node) ? [node.text] : [];
  ts.forEachChild(node, (child) => {
    inside.push(...identifiersIn(child));
  });
  return inside;
}

function checkComponents({ components }: Document): void {
  const problems: ContractProblem[] = [];
  const report: ReportProblem = (words, pointer) => problems.push({ words, pointer });
  for (const [name, schema] of Object.entries(components?.schemas ?? {}))
    reportKeywordTypes(
      schema,
      'value',
      reportIn(report, toPointerOf('components', 'schemas', name), `schema ${name}: `),
    );
  if (problems.length > 0) throw new ContractError(problems);
}

function toOpen({ paths = {}, security = [] }: Document): CheckedCode {
  const sources = Object.values(paths)
    .flatMap(operationsOf)
    .map(([, operation]) => operation);
  const isOpen = (ways: object[]) => ways.length === 0 || ways.some((way) => Object.keys(way).length === 0);
  const open = sources.filter((source) => source.operationId && isOpen(source.security ?? security));
  if (open.length === 0) return code`never`;
  return joined(
    open.map(({ operationId }) => code`${operationId as string}`),
    ' | ',
  );
}

/**
 * Changes a parameter to its form in the handler: JSON in a parameter is already parsed, and a parameter with a default
 * is never missing.
 */
function plain(parameter: ParameterNode): void {
  const [media] = Object.values(parameter.content ?? {});
  if (media?.schema !== undefined) parameter.schema = media.schema;
  delete parameter.content;
  if (keywordsOf(parameter.schema).default !== undefined) parameter.required = true;
}

type Node = Record<string, unknown>;

/**
 * Calls `change` for each node, for inner nodes before outer ones. `hasNames` is true if the keys of the node are names
 * from the contract.
 */
function visit(node: unknown, change: (node: Node, hasNames: boolean) => void, key = ''): void {
  if (!isNode(node)) return;
  const hasNames = isNames(key);
  for (const [name, child] of Object.entries(node)) visit(child, change, hasNames ? '' : name);
  change(node, hasNames);
}

/**
 * Changes headers to their form in the handler: a header with JSON is sent as a text. A referenced header is copied
 * here, because openapi-typescript would treat a reference as required.
 */
function inlineHeaders(node: Node, document: Document): void {
  const { headers } = node;
  for (const [name, header] of Object.entries(isNode(headers) ? headers : {})) {
    if (!isNode(header)) continue;
    const target = typeof header.$ref === 'string' ? lookUp(document, header.$ref) : undefined;
    const { schema, content, required = false } = (target ?? header) as HeaderNode;
    const isJson = isNode(content) && Object.keys(content).some((type) => type.includes('/'));
    if (!isJson && (!isNode(target) || required)) continue;
    (headers as Node)[name] = { schema: isJson ? { type: 'string' } : schema, required };
  }
}

/**
 * Removes keywords that openapi-typescript would misread: openapi-typescript would read or fetch examples and
 * references in other files, apply `nullable`, which is meaningless in 3.1, and take `$defs` for a field. For a
 * discriminator without alternatives, openapi-typescript would remove the discriminator's field from all schemas that
 * have this schema in `allOf`.
 */
function dropUntyped(node: Node, hasNames: boolean): void {
  if (typeof node.externalValue === 'string') delete node.externalValue;
  if (typeof node.$ref === 'string' && !node.$ref.startsWith('#')) delete node.$ref;
  if (hasNames) return;
  delete node.nullable;
  delete node.$defs;
  if (!Array.isArray(node.oneOf ?? node.anyOf)) delete node.discriminator;
}

/**
 * Adds the types of named fields to the type of unnamed fields. TypeScript checks named fields against the type of
 * unnamed fields as well.
 */
function widenOthers(node: Keywords): void {
  const { properties = {}, patternProperties = {}, additionalProperties = {} } = node;
  const isTyped = [...Object.values(patternProperties), additionalProperties].some(
    (schema) => Object.keys(keywordsOf(schema)).length > 0,
  );
  const named = Object.entries(properties).map(([name, schema]) => [`the field ${name}`, schema]);
  if (isTyped) node.patternProperties = { ...patternProperties, ...Object.fromEntries(named) };
}

/**
 * Replaces names of schemas in the mapping of a discriminator by references (OpenAPI 3.1, section 4.8.25). Removes
 * entries that refer to no schema.
 */
function pointMappings({ discriminator }: Keywords, document: Document): void {
  const mapping = discriminator?.mapping ?? {};
  for (const [name, schema] of Object.entries(mapping)) {
    if (Object.hasOwn(document.components?.schemas ?? {}, schema)) mapping[name] = `#/components/schemas/${schema}`;
    else if (lookUp(document, schema) === undefined) delete mapping[name];
  }
}

/** Makes a field read-only or write-only if the schema that its `$ref` leads to is read-only or write-only. */
function markReferences({ properties }: Keywords, document: Document): void {
  for (const field of Object.values(properties ?? {}).map(keywordsOf)) {
    const { readOnly, writeOnly } = keywordsOf(lookUp(document, String(field.$ref)) as Schema | undefined);
    if (readOnly) field.readOnly = true;
    if (writeOnly) field.writeOnly = true;
  }
}
