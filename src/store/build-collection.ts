/** A collection, as handlers see it, on what a database reads and writes of it. */
import type { AnyCollection, Fields, HowToChange } from './collection.ts';
import type { Kept } from './kept.ts';
import { isFree } from './table.ts';
import { fromOutput } from './transactions.ts';
import type { Call, Change, Create, Created, Outcome } from './write.ts';
import { buildMethods, checkKey, PLAIN, Writing } from './writing.ts';

export interface CollectionParts extends Kept {
  reads: Pick<AnyCollection, 'get' | 'list'>;
  create(create: Create): Promise<Created>;
  change(change: Change | Call): Promise<Outcome>;
  /** The names of its transactions. */
  calls: readonly string[];
}

export function buildCollection(parts: CollectionParts): AnyCollection {
  const { table, reads, change, calls } = parts;
  const { collection } = table;
  const writing = new Writing(parts);
  const run = async (toChange: () => Change) => {
    const made = toChange();
    return writing.toAnswer(made, await change(made));
  };
  const createAlone = buildCreateAlone(parts);
  const callAll = calls.map((call) => [
    call,
    async (input: unknown, { once }: HowToChange = PLAIN) => {
      const outcome = await change({ collection, call, input, once });
      checkKey(once, outcome);
      return fromOutput(outcome);
    },
  ]);
  const all = {
    ...reads,
    ...buildMethods(writing, run),
    create: async (given: Fields, { once }: HowToChange = PLAIN) => {
      const record = writing.toFit(given);
      const isAlone = once === undefined && isFree(table);
      return isAlone ? createAlone(record) : run(() => writing.toChange({ kind: 'create', record }, { once }));
    },
    ...Object.fromEntries(callAll),
  };
  // The compiler checks what it is called with by the description of the collection.
  return all as unknown as AnyCollection;
}

/** Adds a record beside any others. */
function buildCreateAlone({ table, create }: CollectionParts): (record: Fields) => Promise<Fields> {
  const { collection, id, sequence: column, fields } = table;
  const isSequence = id.column === column;
  const times = fields.filter(({ set }) => set === 'created' || set === 'changed').map(({ name }) => name);
  return async (record) => {
    const { sequence, now } = await create({ collection, record });
    if (isSequence) record[id.name] = sequence;
    for (const name of times) record[name] = now;
    return record;
  };
}
