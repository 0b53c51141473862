/** Refuses what a collection would lose: values that a column does not keep, or not on each database, and fields without a column. */
import type { Operation } from '../../engine/contract/contract.ts';
import { inAllTypes } from '../../engine/contract/replies.ts';
import type { BuildCheck } from '../../engine/schema/checks.ts';
import { keywordsOf, type Refuse, type Schema } from '../../engine/schema/json.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import type { AnyDescription, ColumnType } from '../../store/description.ts';

interface Unstorable {
  values: unknown[];
  words: string;
}

const TEXTS: Unstorable = {
  values: ['\0', 'x\0', '\0x', 'x\0x'],
  words: 'may have U+0000, which PostgreSQL does not keep: give it a pattern such as ^[^\\x00]*$',
};

/** By the type of the column. */
const UNSTORABLE: { [Type in ColumnType]?: Unstorable } = {
  text: TEXTS,
  uuid: TEXTS,
  time: {
    values: ['x', '2026-01-01', '12:00:00Z', '2026-01-01T12:00:00', '2026-13-01T12:00:00Z'],
    words:
      'may be no instant, which a column of times does not keep: give it format: date-time, or the column the type text',
  },
  int32: {
    values: [1.5, 2 ** 31, -(2 ** 31) - 1],
    words: 'may be no 32-bit integer, which its column does not keep: give it type: integer and format: int32',
  },
};

/** `stored` is the schema of the records. A collection that the contract no longer has, and fields that the store sets, are skipped. */
export function refuseUnstorableFields(
  { schema, columns }: AnyDescription,
  { stored, buildCheck }: { stored: Schema; buildCheck: BuildCheck },
  refuse: Refuse,
): void {
  const { properties = {} } = mergeAllOf(stored);
  if (!Object.keys(columns).every((name) => name in properties)) return;
  for (const [name, field] of Object.entries(properties)) {
    const { type, set } = columns[name] ?? {};
    const unstorable = type && UNSTORABLE[type];
    if (!unstorable || set !== undefined) continue;
    const place = `schema ${schema}: field ${name}`;
    const check = buildCheck(field, { name: place }, () => {});
    const least = keywordsOf(field).minLength ?? 1;
    const isTaken = (value: unknown) => !check(typeof value === 'string' ? value.padStart(least, 'x') : value);
    if (unstorable.values.some(isTaken)) refuse(`${place}: ${unstorable.words}`);
  }
}

/**
 * Refuses fields of a JSON body that no column keeps, and that are not in the reply, if the reply is the record: they would be gone in silence.
 * `writeOnly` says that the handler alone needs them.
 */
export function refuseUnstoredFields(
  { body, replies }: Operation,
  { table, columns }: AnyDescription,
  refuse: Refuse,
): void {
  const successes = inAllTypes(replies).filter(({ status }) => String(status).startsWith('2'));
  const record = successes.map(({ schema }) => fieldsOf(schema)).find((fields) => isWithin(columns, fields));
  const contents = body?.contents.filter(({ kind }) => kind === 'json') ?? [];
  for (const { schema } of record ? contents : []) {
    const gone = Object.entries(fieldsOf(schema)).filter(([name, field]) => {
      const { writeOnly, hidden } = keywordsOf(field);
      return !(name in (record as object)) && !writeOnly && !hidden;
    });
    for (const [name] of gone) {
      const advice = 'give the record this field, or the field writeOnly: true if the handler alone needs it';
      refuse(`its body.${name}: no column of ${table} keeps it, and the reply does not have it: ${advice}`);
    }
  }
}

/** The fields of an object, or of the items of a list. */
export function fieldsOf(schema: Schema): Record<string, Schema> {
  const { properties, items } = mergeAllOf(schema);
  return properties ?? (items === undefined ? {} : fieldsOf(items));
}

export const isWithin = (columns: object, fields: object) => Object.keys(columns).every((name) => name in fields);
