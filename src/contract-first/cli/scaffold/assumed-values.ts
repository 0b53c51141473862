/** Finds the contract's own examples, for required fields that come from nowhere. */
import { buildSamples } from '../../contract/page/sample.ts';
import type { DocumentSource } from '../../contract/page/source.ts';
import { resolveOf } from '../../contract/read/references.ts';
import { toDoubles } from '../../engine/contract/numbers.ts';
import { buildChecks } from '../../engine/schema/checks.ts';
import { int64sOf } from '../../engine/schema/int64-map.ts';
import type { Schema } from '../../engine/schema/json.ts';

/** Returns the example of a schema that fits it, or a made value; undefined if there is none. */
export type FindAssumed = (schema: Schema | undefined) => unknown;

export function buildFindAssumed(source: DocumentSource): FindAssumed {
  const samples = buildSamples(source);
  const resolve = resolveOf(source.document);
  const buildCheck = buildChecks();
  return (schema = true) => {
    const { example: _, examples: __, ...own } = source.flat(schema);
    const whole = toDoubles(resolve({ schema }, () => {}).schema);
    const check = buildCheck(whole, { name: 'it', int64s: int64sOf(whole) }, () => {});
    const values = [schema, own].map((one) => toTyped(samples.ofSchema(one, 'writeOnly'), schema, source));
    return values.find((value) => value !== undefined && !check(value));
  };
}

/** Examples have each integer as a bigint: only those of 64 bits are one in a record. */
function toTyped(value: unknown, schema: Schema | undefined, source: DocumentSource): unknown {
  const { format, items, properties = {} } = source.flat(schema);
  if (typeof value === 'bigint') return format === 'int64' ? value : Number(value);
  if (Array.isArray(value)) return value.map((one) => toTyped(one, items, source));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toTyped(one, properties[name], source)]));
}
