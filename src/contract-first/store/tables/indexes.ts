/**
 * The indexes that lists and deletes need. If an index is missing, the start logs a warning, and `contract-first
 * migration` writes the SQL that creates the index.
 */
import { createHash } from 'node:crypto';
import type { Dialect } from '../changes/statement.ts';
import { type Field, type OrderKey, perTable, sequenceOf, type Table } from './table.ts';

export interface WantedIndex {
  /**
   * For messages: the statements that read the whole table if the index is missing, such as `lists of notes filtered by
   * folder`.
   */
  use: string;
  /** The fields that these statements compare for equality. */
  equal: Field[];
  /** The fields that these statements sort by. */
  order: OrderKey[];
}

/** An index that exists in a database. */
export interface FoundIndex {
  /** Whether the index is unique for all rows of the table. */
  isUnique: boolean;
  /** The columns in the order of the index. `sql` is `?` if the database does not show the expression. */
  columns: { sql: string; isDown: boolean }[];
}

type IndexDialect = Pick<Dialect, 'toCompared' | 'toOrdered'>;

/**
 * Returns the indexes that a table needs, apart from those of its unique columns. An index is omitted if a longer
 * needed index begins with the same columns, or if an index of unique columns serves the same statements.
 */
export const toWantedIndexes = perTable((table): WantedIndex[] => {
  const { key, unique, sequence } = table;
  const sets = [[sequence], key, ...unique.map(({ columns }) => columns)];
  const there = sets.map((set): FoundIndex => {
    return { isUnique: true, columns: set.map((column) => ({ sql: column, isDown: false })) };
  });
  const all = [...listIndexes(table), ...relationIndexes(table)];
  const kept = new Set<WantedIndex>();
  for (const index of all.toSorted((one, other) => sizeOf(other) - sizeOf(one))) {
    const columns = columnsOf(index).map(({ field: { column }, isDown }) => ({ sql: column, isDown }));
    const sql = columns.map((one) => one.sql);
    if (there.some((found) => isServing(found, index, sql))) continue;
    kept.add(index);
    there.push({ isUnique: false, columns });
  }
  return all.filter((index) => kept.has(index));
});

const sizeOf = ({ equal, order }: WantedIndex) => equal.length + order.length;

/** Returns the indexes for lists. A list without a declared order is sorted by sequence numbers. */
function listIndexes(table: Table): WantedIndex[] {
  const { collection, fixed, filters, orders } = table;
  const declared = Object.entries(orders).map(([name, keys]) => ({ words: [`in the order ${name}`], keys }));
  const added = { words: [], keys: [{ field: sequenceOf(table), isDown: false }] };
  const toIndex = (words: string[], equal: Field[], keys: OrderKey[]): WantedIndex => ({
    use: ['lists of', collection, ...words].join(' '),
    equal,
    order: keys.filter(({ field }) => !equal.includes(field)),
  });
  return (declared.length > 0 ? declared : [added]).flatMap(({ words, keys }) => [
    ...filters
      .slice(fixed)
      .map((field) => toIndex([`filtered by ${field.name}`, ...words], [...filters.slice(0, fixed), field], keys)),
    toIndex(words, filters.slice(0, fixed), keys),
  ]);
}

/**
 * Returns the indexes for deletes. Before the database deletes a record, it looks for records that refer to this
 * record.
 */
const relationIndexes = ({ collection, relations, fields }: Table): WantedIndex[] =>
  relations.map(({ columns, parent }) => ({
    use: `deletes of ${parent.collection}, which look for ${collection},`,
    equal: columns.map((column) => fields.find((field) => field.column === column) as Field),
    order: [],
  }));

const columnsOf = ({ equal, order }: WantedIndex): OrderKey[] => [
  ...equal.map((field) => ({ field, isDown: false })),
  ...order,
];

/**
 * Whether an index begins with the wanted columns, read forwards or backwards. A unique index need not contain the
 * wanted columns that follow its own columns, because at most one row contains the same values.
 */
function isServing({ columns, isUnique }: FoundIndex, { equal, order }: WantedIndex, sql: readonly string[]): boolean {
  const count = isUnique ? Math.min(columns.length, sql.length) : sql.length;
  const isSame = (wanted: string, found?: string) => found === wanted || (found === '?' && wanted.startsWith('CAST('));
  if (!sql.slice(0, count).every((one, place) => isSame(one, columns[place]?.sql))) return false;
  const sorted = order.slice(0, Math.max(0, count - equal.length));
  const turns = sorted.map(({ isDown }, place) => columns[equal.length + place]?.isDown !== isDown);
  return turns.every((turn) => turn === turns[0]);
}

/**
 * Whether one of the existing indexes can be used instead of the wanted index. In SQLite, each index also contains the
 * sequence number at its end.
 */
export function isIndexed(
  index: WantedIndex,
  found: readonly FoundIndex[],
  { sequence }: Table,
  dialect: IndexDialect & { kind: string },
): boolean {
  const sql = toColumnsSql(index, dialect);
  const end = dialect.kind === 'sqlite' ? [{ sql: sequence, isDown: false }] : [];
  return found.some(({ columns, isUnique }) =>
    isServing({ isUnique, columns: isUnique ? columns : [...columns, ...end] }, index, sql),
  );
}

function toColumnsSql({ equal, order }: WantedIndex, { toCompared, toOrdered }: IndexDialect): string[] {
  return [
    ...equal.map((field) => toCompared(field, field.column)),
    ...order.map(({ field }) => toOrdered(field, field.column)),
  ];
}

/** The most characters of an index's name: PostgreSQL truncates longer names. */
const LONGEST_NAME = 63;

/**
 * Returns SQL that creates an index. The directions of all sorted columns may be reversed, because databases can read
 * an index backwards.
 */
export function toIndexSql({ name: table }: Table, index: WantedIndex, dialect: IndexDialect): string {
  const isTurned = index.order[0]?.isDown === true;
  const columns = columnsOf(index).map(({ field, isDown }, place) => {
    const isInOrder = place >= index.equal.length;
    return { field, isDown: isInOrder && isDown !== isTurned };
  });
  const sql = toColumnsSql(index, dialect);
  const parts = columns.map(({ isDown }, place) => {
    return isDown ? `${sql[place]} DESC` : sql[place];
  });
  const named = index.order.length > 0 ? columns.slice(0, -1) : columns;
  const turned = columns.some(({ isDown }) => isDown) ? '_mixed' : '';
  const name = `${table}_by_${named.map(({ field }) => field.column).join('_')}${turned}`;
  return `CREATE INDEX ${toShortName(name)} ON ${table} (${parts.join(', ')})`;
}

function toShortName(name: string): string {
  if (name.length <= LONGEST_NAME) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, LONGEST_NAME - digest.length - 1)}_${digest}`;
}
