/** Converts OpenAPI 3.0 to 3.1. The differences are in schemas and beside references (OpenAPI 3.0.3, sections 4.7.23 and 4.7.24). */
import { isNode, type Keywords } from '../../engine/schema/json.ts';
import { isNames, isValue } from '../../engine/schema/keys.ts';

export function toCurrent<Document extends object>(document: Document): Document {
  return { ...toCurrentNode(document, ''), openapi: '3.1.1' };
}

/** `key` is the key of the node in its parent. */
function toCurrentNode<Kind>(node: Kind, key: string): Kind;
function toCurrentNode(node: unknown, key: string): unknown {
  if (Array.isArray(node)) return node.map((item) => toCurrentNode(item, ''));
  if (!isNode(node)) return node;
  const hasNames = isNames(key);
  const entries = Object.entries(node).map(([name, value]) => [
    name,
    !hasNames && isValue(name) ? value : toCurrentNode(value, hasNames ? '' : name),
  ]);
  const current = Object.fromEntries(entries);
  return hasNames ? current : toCurrentSchema(current);
}

/** Converts a schema from OpenAPI 3.0. Other nodes have none of these keywords. */
function toCurrentSchema({ nullable, ...schema }: Keywords): Keywords {
  // Keywords beside a reference to a component are ignored. A path item's reference leads elsewhere, and keeps them.
  if (typeof schema.$ref === 'string' && schema.$ref.startsWith('#/components/')) return { $ref: schema.$ref };
  if (nullable === true && typeof schema.type === 'string') schema.type = [schema.type, 'null'];
  return withBound('exclusiveMinimum', 'minimum', withBound('exclusiveMaximum', 'maximum', schema));
}

/** In 3.0, `exclusiveMinimum: true` makes `minimum` exclusive; in 3.1, `exclusiveMinimum` is the limit itself. */
function withBound(exclusive: string, inclusive: string, schema: Keywords): Keywords {
  const { [exclusive]: isExclusive, [inclusive]: bound, ...others } = schema;
  if (typeof isExclusive !== 'boolean' || bound === undefined) return schema;
  return { ...others, [isExclusive ? exclusive : inclusive]: bound };
}
