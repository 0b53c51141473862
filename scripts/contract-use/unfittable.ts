/** Schemas of a contract that nothing fits, or that no answer fits, and of which one thing alone can be meant. */
import { isDeepStrictEqual } from 'node:util';
import { isNode, type Keywords, keywordsOf } from '../../src/engine/schema/json.ts';
import { isValue } from '../../src/engine/schema/keys.ts';
import { ANNOTATION, lookUp } from '../../src/engine/schema/references.ts';
import { toStep } from '../../src/json/pointer.ts';
import type { Node } from './unused-components.ts';

type Tell = (change: string) => void;

/** A part of a schema may require the fields of another. */
const PART = /\/(all|any|one)Of\/[0-9]+$/;
const BESIDE = [
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'additionalProperties',
  'patternProperties',
  'unevaluatedProperties',
];

/** Takes any value for a field that is required and not described: else it would not be sent. */
export function describeRequired(schema: Keywords, at: string, tell: Tell): void {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isNode(properties) || PART.test(at) || BESIDE.some((key) => key in schema)) return;
  for (const name of required.filter((name) => !Object.hasOwn(properties, name))) {
    properties[name] = {};
    tell(`${at}/properties/${toStep(name)} is written: it is required`);
  }
}

/** Takes out an alternative of `oneOf` that differs from another in texts alone: a value that fits one would fit both. */
export function dropAlike(schema: Keywords, at: string, document: Node, tell: Tell): void {
  const { oneOf, discriminator } = schema;
  if (!Array.isArray(oneOf) || discriminator) return;
  const bare = oneOf.map((one) => toBare(lookUp(document, keywordsOf(one).$ref) ?? one));
  const first = bare.map((one) => bare.findIndex((other) => isDeepStrictEqual(one, other)));
  schema.oneOf = oneOf.filter((_, index) => first[index] === index);
  for (const [index, other] of first.entries())
    if (other !== index)
      tell(`${at}/oneOf/${index} is taken out: it takes what oneOf/${other} takes, and only one may`);
}

/** Without annotations. */
function toBare(node: unknown, hasNames = false): unknown {
  if (!isNode(node)) return node;
  if (Array.isArray(node)) return node.map((item) => toBare(item));
  const entries = Object.entries(node).filter(([key]) => hasNames || !ANNOTATION.test(key));
  return Object.fromEntries(
    entries.map(([key, value]) => [key, isValue(key) ? value : toBare(value, !hasNames && key === 'properties')]),
  );
}
