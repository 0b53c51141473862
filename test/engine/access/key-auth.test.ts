import t from 'tap';
import { KnownKeys } from '../../../src/contract-first/engine/access/key-auth.ts';

t.test('the server remembers only the last thousand spellings of keys, and no very long spellings', (t) => {
  const keys = new KnownKeys((hash) => ({ id: hash }) as never);
  const isKnown = (text: string) => keys.findKnown(text) !== undefined;
  for (let spaces = 0; spaces < 8000; spaces++) keys.find('key', `Bearer${' '.repeat(spaces)}key`);
  t.equal(isKnown(`Bearer${' '.repeat(100)}key`), true);
  t.equal(isKnown(`Bearer${' '.repeat(7999)}key`), false);
  for (let count = 0; count < 2000; count++) keys.find(`key ${count}`);
  t.equal(isKnown('key 999'), false);
  t.equal(isKnown('key 1000'), true);
  t.end();
});
