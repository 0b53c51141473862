/** A collection, as handlers see it, on what a database reads and writes of it. */

import { isNewText } from './changes.ts';
import { type AnyCollection, type Fields, type HowToChange, KeyReused, Refusal } from './collection.ts';
import { checkFits, type Shape, UnfitRecord } from './shape.ts';
import { type Field, isFree, type Table } from './table.ts';
import { toKeptFields, toRecord } from './values.ts';
import type { Change, Create, Created, Outcome } from './write.ts';

export interface CollectionParts {
  table: Table;
  shape: Shape;
  /** What one record is called. */
  noun: string;
  reads: Pick<AnyCollection, 'get' | 'list'>;
  create(create: Create): Promise<Created>;
  change(change: Change): Promise<Outcome>;
}

/** How a change is made, without a condition and a key. */
const PLAIN: HowToChange = {};

export function buildCollection(parts: CollectionParts): AnyCollection {
  const { id } = parts.table;
  const writing = new Writing(parts);
  const methods = {
    ...parts.reads,
    create: async (given: Fields, { once }: HowToChange = PLAIN) => {
      const record = writing.toFit(given);
      const isAlone = once === undefined && isFree(parts.table);
      return isAlone ? writing.create(record) : writing.change({ kind: 'create', record }, { once });
    },
    createAll: async (given: Fields[], { once }: HowToChange = PLAIN) => {
      const all = given.map((one) => writing.toFit(one));
      return writing.change({ kind: 'create', record: {}, all }, { once });
    },
    update: async (value: unknown, changes: Fields, how = PLAIN) => {
      return writing.change({ kind: 'update', id: value, ...writing.toChanges(changes) }, how);
    },
    replace: async (value: unknown, given: Fields, how = PLAIN) => {
      const record = writing.toFit({ ...given, [id.name]: value });
      return writing.change({ kind: 'replace', id: value, record }, how);
    },
    put: async (value: unknown, given: Fields, how = PLAIN) => {
      const record = writing.toFit({ ...given, [id.name]: value });
      return writing.change({ kind: 'put', id: value, record }, how);
    },
    delete: async (value: unknown, how = PLAIN) => writing.change({ kind: 'delete', id: value, record: {} }, how),
  };
  // The compiler checks what it is called with by the description of the collection.
  return methods as unknown as AnyCollection;
}

class Writing {
  readonly #parts: CollectionParts;
  readonly #isSequence: boolean;
  readonly #times: string[];

  constructor(parts: CollectionParts) {
    const { id, sequence, fields } = parts.table;
    this.#parts = parts;
    this.#isSequence = id.column === sequence;
    this.#times = fields.filter(({ set }) => set === 'created' || set === 'changed').map(({ name }) => name);
  }

  /** A record as it will be stored. @throws UnfitRecord */
  toFit(given: Fields): Fields {
    const { table, shape, noun } = this.#parts;
    const record = toRecord(table, given);
    checkFits(shape, noun, record);
    return record;
  }

  /** @throws UnfitRecord */
  toChanges(given: Fields): Pick<Change, 'record' | 'add'> {
    const { table, shape, noun } = this.#parts;
    const changes = splitChanges(table, given);
    const problems = shape.checkFields(changes.record);
    if (problems) throw new UnfitRecord(`a change of a ${noun} is not stored: ${problems.join('; ')}`);
    return changes;
  }

  async create(record: Fields): Promise<Fields> {
    const { table, create } = this.#parts;
    const { sequence, now } = await create({ collection: table.collection, record });
    if (this.#isSequence) record[table.id.name] = sequence;
    for (const name of this.#times) record[name] = now;
    return record;
  }

  async change(made: Pick<Change, 'kind' | 'record'> & Partial<Change>, how: HowToChange): Promise<unknown> {
    const { table, change, shape } = this.#parts;
    const { once } = how;
    const { collection } = table;
    const wanted = how.if && toKeptFields(table, how.if);
    const { text, refused, isReplayed } = await change({ add: {}, ...made, collection, if: wanted, once });
    if (refused === 'key_reused') throw new KeyReused('the key was sent before with another request');
    if (once) once.isReplayed = isReplayed === true;
    if (refused !== undefined) return new Refusal(refused);
    if (made.kind === 'delete') return text !== undefined;
    if (text === undefined) return undefined;
    const record = shape.read(text);
    return made.kind === 'put' ? { record, isNew: isNewText(text) } : record;
  }
}

/** What is set, and what is added to numbers. */
function splitChanges(table: Table, changes: Fields): Pick<Change, 'record' | 'add'> {
  const [record, add]: Fields[] = [{}, {}] as [Fields, Fields];
  for (const field of table.fields) {
    const value = changes[field.name];
    if (value === undefined) continue;
    if (isSum(field, value)) (add as Fields)[field.name] = value.add;
    else (record as Fields)[field.name] = value;
  }
  return { record: toKeptFields(table, record as Fields), add: add as Fields };
}

function isSum({ type }: Field, value: unknown): value is { add: unknown } {
  return (type === 'int64' || type === 'int32') && typeof value === 'object' && value !== null && 'add' in value;
}
