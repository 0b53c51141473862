/** `new` prints a line once if it is true for several collections or operations. */
import t from 'tap';
import { toGroupedLines } from '../../../src/contract-first/cli/scaffold/grouped-lines.ts';

const written = (names: string[], words = 'the parameter alt is sent') =>
  toGroupedLines(
    names.map((name) => ({ name, words })),
    { start: 'missing: ', toLine: (one) => `${one.name} answers 501 if ${one.words}` },
  );

t.test('a line about one operation begins with its name', async (t) => {
  t.strictSame(written([]), []);
  t.strictSame(written(['a']), ['missing: a answers 501 if the parameter alt is sent']);
  t.strictSame(written(['a', 'a']), written(['a']), 'the same remark twice is one line');
});

t.test('a line about several operations ends with at most three names', async (t) => {
  const ending = (names: string[]) =>
    written(names).map((line) => line.replace('missing: the parameter alt is sent', ''));
  t.strictSame(ending(['a', 'b']), [' (a and b)']);
  t.strictSame(ending(['a', 'b', 'c']), [' (a, b and c)']);
  t.strictSame(ending(['a', 'b', 'c', 'd']), [' (a, b and 2 more)']);
});
