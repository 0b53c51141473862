/**
 * Corrects requests. Moves keywords of parameters into their schemas, and removes defaults that do not fit their own
 * schemas. Also changes bodies other than JSON: a form gets a schema that names its fields, and a body that the server
 * could not check becomes bytes, which the handler gets unchanged.
 */
import { stringify } from 'lossless-json';
import { bodyKindOf, isForm, reportRawBody, toTypes } from '../../../contract/read/bodies.ts';
import { buildResolve } from '../../../contract/read/references.ts';
import { FILLED, isQuick } from '../../../contract/subsets/impossible.ts';
import type { MediaNode } from '../../../engine/contract/document.ts';
import { toDoubles } from '../../../engine/contract/numbers.ts';
import { namesIn } from '../../../engine/contract/path-names.ts';
import { isJson } from '../../../engine/contract/replies.ts';
import { kindOfPart, partOf } from '../../../engine/requests/form-fields.ts';
import { isNode, type Keywords, keywordsOf, type Schema } from '../../../engine/schema/json.ts';
import { ANNOTATION, lookUp } from '../../../engine/schema/keys.ts';
import { ONE, subschemasOf } from '../../../engine/schema/subschemas.ts';
import { isList, isSimple } from '../../../engine/schema/value-types.ts';
import { toPointerToken } from '../../../json/pointer.ts';
import {
  buildCompile,
  entriesAt,
  followReference,
  type Node,
  type NodeAt,
  operationsIn,
  type ReportChange,
} from './written.ts';

/** A schema that allows only the empty text. */
const EMPTY = { type: 'string', enum: [''] };

export function fixParameters(document: Node, report: ReportChange): void {
  const compile = buildCompile(document);
  const operations = operationsIn(document);
  const pathsOf = new Map<Node, Set<string>>();
  for (const { path, item } of operations) pathsOf.set(item.node, (pathsOf.get(item.node) ?? new Set()).add(path));
  for (const { path, item, operation, parameters } of operations) {
    // Declares no missing parameters in a path item that several paths share, because their names may differ in each
    // path.
    if (pathsOf.get(item.node)?.size === 1) declareNames(path, operation, parameters, report);
    for (const { node, at } of parameters) {
      if (node.allowEmptyValue !== true || !node.schema) continue;
      const compiled = compile(node.schema as Schema);
      // Skips schemas other than simple ones and lists, because only their values can be an empty text.
      if (!compiled || !(isSimple(compiled.schema) || isList(compiled.schema))) continue;
      const { schema, check } = compiled;
      const isTaken = [[''], ''].some((empty) => check(empty) === undefined);
      delete node.allowEmptyValue;
      const { default: value } = keywordsOf(schema);
      if (!isTaken) node.schema = { ...(value !== undefined && { default: value }), anyOf: [node.schema, EMPTY] };
      report(
        `${at}/allowEmptyValue is ${isTaken ? 'taken out: its schema takes an empty text' : 'written into its schema'}`,
      );
    }
  }
}

/** Declares the parameters in a path that the contract does not declare. Such a parameter may be any text. */
function declareNames(path: string, { node, at }: NodeAt, parameters: NodeAt[], report: ReportChange): void {
  const declared = parameters.filter(({ node }) => node.in === 'path').map(({ node }) => node.name);
  const names = new Set(namesIn(path).filter(Boolean));
  const { parameters: own = [] } = node;
  if (!Array.isArray(own)) return;
  for (const name of [...names].filter((name) => !declared.includes(name))) {
    node.parameters = own;
    own.push({ name, in: 'path', required: true, schema: { type: 'string' } });
    report(`${at}/parameters has {${name}}, which is in the path: it may be any text`);
  }
}

/**
 * Removes defaults that do not fit their schemas, because each request that omits the value would be answered with 400.
 */
export function fixDefaults(document: Node, report: ReportChange): void {
  const compile = buildCompile(document);
  const seen = new Set<unknown>();
  for (const { parameters, body } of operationsIn(document)) {
    for (const holder of [...parameters, body]) {
      const contents = entriesAt(document, holder, 'content').map(([, media]) => media);
      for (const { node, at } of [holder, ...contents]) visit(node.schema, `${at}/schema`);
    }
  }

  /** Visits the schemas with defaults that the server fills in. */
  function visit(node: unknown, at: string): void {
    if (!isNode(node) || seen.has(node)) return;
    seen.add(node);
    if (node.default !== undefined) dropUnfit({ node, at });
    const target = followReference(document, node, at);
    visit(target.node, target.at);
    for (const { subschema, keyword, name } of subschemasOf(node)) {
      // Read-only fields are skipped, because requests never contain them.
      if (!FILLED.includes(keyword) || (keyword === 'properties' && Object(subschema).readOnly === true)) continue;
      visit(subschema, `${at}/${keyword}${ONE.includes(keyword) ? '' : `/${toPointerToken(name)}`}`);
    }
  }

  function dropUnfit({ node, at }: NodeAt): void {
    const { schema, check } = compile(node) ?? {};
    if (!check || !isQuick(schema)) return;
    // Integers were parsed as `bigint`. A default is correct if it fits either as a `bigint` or as a double.
    const [problem, ...others] = [toDoubles(node.default), node.default].map((value) => check(value)?.[0]);
    if (!problem || others.includes(undefined)) return;
    delete node.default;
    report(`${at}/default is taken out: its own schema refuses it: ${problem}`);
  }
}

/**
 * Matches the keywords of subschemas that can be merged into one schema of a form. `nullable` does nothing there,
 * because a form is never null.
 */
const JOINED = /^(type|properties|required|allOf|nullable)$/;

export function fixBodies(document: Node, report: ReportChange): void {
  const resolve = buildResolve(document);
  const resolved = (schema: unknown) => resolve((schema ?? {}) as Schema, () => {});
  const done = new Set<unknown>();
  for (const { method, body } of operationsIn(document)) {
    const { node, at } = body;
    if (/get|head/.test(method) || !isNode(node.content) || done.has(node)) continue;
    done.add(node);
    fixContent(node.content, `${at}/content`);
  }

  function fixContent(content: Node, at: string): void {
    const types = typesOf(content).filter(({ media }) => isNode(media));
    // If one type of the body is JSON, the other types need no correction, because the server leaves out the types that
    // it could not check.
    if (types.some(({ type }) => isJson(type))) return;
    for (const { type, media } of types) {
      const schema = resolved(media.schema);
      const pointer = `${at}/${toPointerToken(type)}/schema`;
      const passOn = () => {
        media.schema = { type: 'string', format: 'binary' };
        report(`${pointer} is written as format: binary: the handler gets ${type} as it is, unchecked`);
      };
      if (bodyKindOf(type, schema) === 'bytes') reportRawBody(schema, type, '', passOn);
      else if (!isForm(schema) || keywordsOf(schema).nullable) fixForm(media, pointer, passOn);
    }
  }

  /**
   * Writes the fields of all subschemas into the schema of the form itself, because the server reads them there.
   * Without fields, the handler gets the form as bytes.
   */
  function fixForm(media: MediaNode, pointer: string, passOn: () => void): void {
    const parts = partsOf(document, media.schema);
    const fields = fieldsOf(parts);
    const isOne = parts.every((part) => Object.keys(part).every((key) => JOINED.test(key) || ANNOTATION.test(key)));
    const hasFiles = fields.some(([, field]) => kindOfPart(partOf(resolved(field))) === 'file');
    const isTyped = parts.every(({ type = 'object' }) => [type].flat().includes('object'));
    const isJoined = isOne && new Set(fields.map(([name]) => name)).size === fields.length;
    if (fields.length === 0 || !isTyped || (hasFiles && !isJoined)) {
      passOn();
      return;
    }
    const properties = Object.fromEntries(fields.map(([name]) => [name, joined(fields, name)]));
    const required = parts.flatMap(({ required: names = [] }) => names);
    media.schema = { ...(isJoined ? { required } : { allOf: [media.schema as Schema] }), type: 'object', properties };
    report(`${pointer} names the fields of its parts: a form is checked field by field`);
  }
}

const typesOf = (content: Node) => toTypes(content as Record<string, MediaNode>, '', () => {});

/**
 * Returns a schema and all its subschemas that describe the same value, each once. References in them are not replaced.
 */
function partsOf(document: Node, schema: unknown, seen = new Set<unknown>()): Keywords[] {
  if (!isNode(schema) || seen.has(schema)) return [];
  seen.add(schema);
  const { $ref, ...own } = schema;
  const { allOf = [], anyOf = [], oneOf = [] } = own as Keywords;
  const inner = [lookUp(document, $ref), allOf, anyOf, oneOf].flat();
  return [own, ...inner.flatMap((part) => partsOf(document, part, seen))];
}

const fieldsOf = (parts: Keywords[]): [string, Schema][] =>
  parts.flatMap(({ properties = {} }) => Object.entries(properties));

function joined(fields: [string, Schema][], name: string): Schema {
  const all = fields.filter(([other]) => other === name).map(([, schema]) => [stringify(schema), schema] as const);
  const [first, ...others] = new Map(all).values();
  return others.length > 0 ? { anyOf: [first as Schema, ...others] } : (first as Schema);
}
