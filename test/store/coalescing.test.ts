import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { coalesce } from '../../src/contract-first/store/postgres/coalescing.ts';
import type { PostgresConnection } from '../../src/contract-first/store/postgres/connection.ts';

t.test(
  'calls that arrive while a statement runs share the next statement, and do not wait for a statement that is stuck',
  async (t) => {
    const statements: number[][] = [];
    const ends: (() => void)[] = [];
    const ask = coalesce<number, string>(
      (task) => task({} as PostgresConnection),
      async (_connection, questions) => {
        statements.push([...questions]);
        await new Promise<void>((resolve) => ends.push(resolve));
        return questions.map(String);
      },
    );
    const first = ask(1);
    await nextTurn();
    const others = [ask(2), ask(3)];
    ends[0]?.();
    t.equal(await first, '1');
    while (statements.length < 2) await nextTurn();
    const last = ask(4);
    while (statements.length < 3) await nextTurn();
    t.strictSame(statements, [[1], [2, 3], [4]]);
    ends[2]?.();
    t.equal(await last, '4');
    ends[1]?.();
    t.strictSame(await Promise.all(others), ['2', '3']);
  },
);
