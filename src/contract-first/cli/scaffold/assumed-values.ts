/** For `--assume`: finds the contract's own examples for required fields that neither a client nor the store sets. */
import { buildSamples } from '../../contract/page/sample.ts';
import type { DocumentSource } from '../../contract/page/source.ts';
import { resolveOf } from '../../contract/read/references.ts';
import { toDoubles } from '../../engine/contract/numbers.ts';
import { buildChecks } from '../../engine/schema/checks.ts';
import { int64sOf } from '../../engine/schema/int64-map.ts';
import type { Schema } from '../../engine/schema/json.ts';

/**
 * Returns an example that fits the schema: the contract's own example, or else one that is made from the schema.
 * Returns undefined if neither fits.
 */
export type FindAssumed = (schema: Schema | undefined) => unknown;

export function buildFindAssumed(source: DocumentSource): FindAssumed {
  const samples = buildSamples(source);
  const resolve = resolveOf(toDoubles(source.document));
  const buildCheck = buildChecks({ isJudged: true });
  return (schema = true) => {
    const { example: _, examples: __, ...own } = source.flat(schema);
    // Copies the schema first, and then resolves its references. A resolved recursive schema contains itself, so it
    // could not be copied.
    const whole = resolve({ schema: toDoubles(schema) }, () => {}).schema;
    let isSound = true;
    const check = buildCheck(whole, { name: 'it', int64s: int64sOf(whole) }, () => {
      isSound = false;
    });
    if (!isSound) return undefined;
    const values = [schema, own].map((one) => toTyped(samples.ofSchema(one, 'writeOnly'), schema, source.flat));
    return values.find((value) => value !== undefined && !check(value));
  };
}

/**
 * Converts an example to the types of a record. Every integer of an example is a bigint, but in a record only 64-bit
 * integers are.
 */
export function toTyped(value: unknown, schema: Schema | undefined, flat: DocumentSource['flat']): unknown {
  const { format, items, properties = {} } = flat(schema);
  if (typeof value === 'bigint') return format === 'int64' ? value : Number(value);
  if (Array.isArray(value)) return value.map((one) => toTyped(one, items, flat));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toTyped(one, properties[name], flat)]));
}
