/** Commands report only the problems of a contract. Other errors end the command. */
import t from 'tap';
import { findUnservable, problemsThrownBy } from '../../src/contract-first/cli/unservable.ts';
import { ContractError } from '../../src/contract-first/engine/contract/contract.ts';
import { toErrorBody } from '../../src/contract-first/engine/errors/error-body.ts';
import { domain } from '../../src/generated/domain.ts';
import { load } from '../added-operations.ts';
import { edited } from '../edited-contract.ts';

t.test('the commands list the problems of a contract, but an error such as a full disk is thrown', (t) => {
  const throwing = (error: Error) => () => {
    throw error;
  };
  t.strictSame(problemsThrownBy(throwing(new ContractError(['a', 'b']))), [{ words: 'a' }, { words: 'b' }]);
  t.throws(() => problemsThrownBy(throwing(new Error('the disk is full'))), { message: 'the disk is full' });
  t.end();
});

t.test('if the contract declares an error code that no collection uses, the build fails', async (t) => {
  const withCode = edited(({ schemas }) => schemas.ErrorCode['x-extensible-enum'].push('pet_lost'));
  const parts = { toErrorBody, domain, verifyToken: undefined };
  const contract = await load(t, withCode);
  t.match(findUnservable(contract, parts), {
    ofContract: [{ words: /pet_lost has no status/ }],
    ofTeam: [],
    warnings: [],
  });
  t.strictSame(findUnservable(contract, { ...parts, domain: {} }).ofContract, []);
});
