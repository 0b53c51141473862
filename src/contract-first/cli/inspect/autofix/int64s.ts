/**
 * Makes an integer an int64 if another schema of the same value is an int64, such as another alternative. The value is
 * then a `bigint` whichever schema applies. Changes the document itself, because the type of a schema must be the same
 * in all its uses.
 */
import { isNode, type Keywords } from '../../../engine/schema/json.ts';
import { isNames, isValue, lookUp } from '../../../engine/schema/keys.ts';
import { scopeOf, subschemasOf } from '../../../engine/schema/subschemas.ts';
import { toPointerToken } from '../../../json/pointer.ts';
import type { Node, ReportChange } from './written.ts';

/** For each schema, the other schemas that describe the same value. */
type Links = Map<Keywords, Set<Keywords>>;

/**
 * Corrects the formats of integers. Call this function before alternatives are compared, because some alternatives are
 * equal only after this correction.
 */
export function fixInt64s(document: Node, report: ReportChange): void {
  const pointers = pointersIn(document);
  const links = linksIn(document, [...pointers.keys()]);
  const integers = new Set([...links.keys()].filter(isInt64));
  for (const one of integers) {
    for (const other of links.get(one) as Set<Keywords>) {
      if (integers.has(other) || !isFixable(other)) continue;
      integers.add(other);
      if (other.format === 'int32') boundInt32(other);
      other.format = 'int64';
      report(`${pointers.get(other)}/format is int64: another schema of the same value has it`);
    }
  }
}

/** Returns all nodes that may be schemas, with their JSON Pointers. */
function pointersIn(
  node: unknown,
  at = '',
  hasNames = false,
  pointers = new Map<Keywords, string>(),
): Map<Keywords, string> {
  if (!isNode(node)) return pointers;
  if (!hasNames && !Array.isArray(node)) pointers.set(node, at);
  for (const [key, child] of Object.entries(node)) {
    if (hasNames || !isValue(key))
      pointersIn(child, `${at}/${toPointerToken(key)}`, !hasNames && isNames(key), pointers);
  }
  return pointers;
}

function linksIn(document: Node, schemas: Keywords[]): Links {
  const links: Links = new Map();
  const partsOf = buildPartsOf(document);
  const open = schemas.filter((schema) => partsOf(schema).size > 1).map((schema) => [schema, schema] as const);
  for (const [one, other] of open) {
    for (const part of partsOf(one)) {
      const known = links.get(part) ?? new Set();
      links.set(part, known);
      for (const beside of partsOf(other)) {
        if (beside === part || known.has(beside)) continue;
        known.add(beside);
        for (const [name, field] of fieldsOf(part))
          for (const [own, inside] of fieldsOf(beside)) if (own === name) open.push([field, inside]);
      }
    }
  }
  return links;
}

/** Builds a function that returns a schema, and all schemas inside it that describe the same value. */
function buildPartsOf(document: Node): (schema: Keywords) => Set<Keywords> {
  const found = new Map<Keywords, Set<Keywords>>();
  return (schema) => {
    const parts = found.get(schema) ?? new Set([schema]);
    if (found.has(schema)) return parts;
    found.set(schema, parts);
    for (const part of parts) {
      const same = subschemasOf(part).filter(({ keyword }) => scopeOf(keyword) === 'value');
      for (const one of [lookUp(document, part.$ref), ...same.map(({ subschema }) => subschema)])
        if (isNode(one)) parts.add(one);
    }
    return parts;
  };
}

/**
 * Returns the schemas of named fields with their names. Also returns the schemas of items and of unnamed fields, with
 * undefined as the name.
 */
const fieldsOf = (schema: Keywords): [name: string | undefined, Keywords][] =>
  subschemasOf(schema).flatMap(({ subschema, keyword, name }) => {
    const scope = scopeOf(keyword);
    return scope === 'value' || !isNode(subschema) ? [] : [[scope === 'field' ? name : undefined, subschema]];
  });

const isInteger = ({ type }: Keywords) => [type].flat().includes('integer');
const isInt64 = (schema: Keywords) => isInteger(schema) && schema.format === 'int64';

/** True if an integer may become an int64, which excludes keywords that the server does not support for int64. */
const isFixable = (schema: Keywords) =>
  isInteger(schema) &&
  ![schema.type].flat().includes('number') &&
  ['enum', 'const', 'multipleOf'].every((keyword) => schema[keyword] === undefined);

const INT32 = { least: -(2 ** 31), most: 2 ** 31 - 1 };

/** Gives an integer the limits of int32, so that it keeps them when its format becomes int64. */
function boundInt32(schema: Keywords): void {
  const { minimum = INT32.least, maximum = INT32.most } = schema;
  schema.minimum = minimum < INT32.least ? INT32.least : minimum;
  schema.maximum = maximum > INT32.most ? INT32.most : maximum;
}
