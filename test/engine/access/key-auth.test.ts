import t from 'tap';
import { buildVerified } from '../../../src/contract-first/engine/access/key-auth.ts';

t.test('of a valid key that is sent in many spellings, few and short ones are remembered', (t) => {
  const verified = buildVerified();
  for (let spaces = 0; spaces < 8000; spaces++) verified.set(`Bearer${' '.repeat(spaces)}key`, 'hash');
  t.equal(verified.get(`Bearer${' '.repeat(100)}key`), 'hash');
  t.equal(verified.get(`Bearer${' '.repeat(7999)}key`), undefined);
  for (let count = 0; count < 2000; count++) verified.set(`key ${count}`, 'hash');
  t.equal(verified.get('key 999'), undefined);
  t.equal(verified.get('key 1000'), 'hash');
  t.end();
});
