import t from 'tap';
import { type Call, violationsOf } from '../histories.ts';

const create = (id: bigint, from: number, to: number): Call => ({ kind: 'create', id, from, to });
const get = (id: bigint, isFound: boolean, from: number, to: number): Call => ({ kind: 'get', id, isFound, from, to });
const list = (ids: bigint[], isLast: boolean, from: number, to: number): Call => ({
  ...{ kind: 'list', after: 0n, ids, isLast },
  ...{ from, to },
});

t.test(
  'the consistency check of the tests accepts a history of calls that one copy of the pets could produce',
  async (t) => {
    const histories: Call[][] = [
      [],
      [create(1n, 0, 1), get(1n, true, 2, 3), list([1n], true, 2, 3), get(2n, false, 2, 3)],
      [create(1n, 0, 9), get(1n, true, 2, 3), get(1n, true, 4, 5)],
      [create(1n, 0, 9), get(1n, false, 2, 5), get(1n, true, 4, 6), list([], true, 1, 5)],
      [create(2n, 0, 5), create(1n, 1, 4), list([1n], true, 2, 3), list([1n, 2n], true, 2, 3)],
    ];
    for (const history of histories) t.strictSame(violationsOf(history), []);
  },
);

t.test(
  'the consistency check of the tests rejects a history of calls that no single copy of the pets could produce',
  async (t) => {
    const histories: Call[][] = [
      [create(1n, 0, 1), create(1n, 0, 1)],
      [create(2n, 0, 1), create(1n, 2, 3)],
      [create(1n, 0, 1), get(1n, false, 2, 3)],
      [create(1n, 0, 9), get(1n, true, 2, 3), get(1n, false, 4, 5)],
      [create(1n, 0, 1), list([], true, 2, 3)],
      [create(1n, 0, 9), create(2n, 0, 9), list([2n], false, 2, 3)],
      [create(1n, 0, 9), list([1n], true, 2, 3), list([], true, 4, 5)],
      [get(1n, true, 0, 1), create(1n, 2, 3)],
    ];
    for (const history of histories) t.ok(violationsOf(history).length > 0);
  },
);
