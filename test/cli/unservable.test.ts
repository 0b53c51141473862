/** Commands report the problems of a contract, and no other errors. */
import t from 'tap';
import { problemsThrownBy } from '../../src/contract-first/cli/unservable.ts';
import { ContractError } from '../../src/contract-first/engine/contract/contract.ts';

t.test('the problems of a contract are reported, and another error stops the command', (t) => {
  const throwing = (error: Error) => () => {
    throw error;
  };
  t.strictSame(problemsThrownBy(throwing(new ContractError(['a', 'b']))), ['a', 'b']);
  t.throws(() => problemsThrownBy(throwing(new Error('the disk is full'))), { message: 'the disk is full' });
  t.end();
});
