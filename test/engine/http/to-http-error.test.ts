import t from 'tap';
import { addErrors, HttpError } from '../../../src/contract-first/engine/errors/catalogue.ts';
import { toHttpError } from '../../../src/contract-first/engine/http/thrown.ts';
import { InvalidValue } from '../../../src/contract-first/store/collection.ts';
import { StoreUnavailable } from '../../../src/contract-first/store/store.ts';

t.test('the server answers an outage of the store with 503, whether or not its cause is known', async (t) => {
  const cause = new Error('the disk is gone');
  t.match(toHttpError(new StoreUnavailable(cause), 200), { status: 503, code: 'unavailable', cause });
  const outage = new StoreUnavailable(undefined);
  t.match(toHttpError(outage, 200), { status: 503, code: 'unavailable', cause: outage });
});

t.test('the server answers a text that is too long for a database index with 400', async (t) => {
  const message = 'note has more than 1300 bytes, the most that its index can hold';
  const thrown = new InvalidValue(message);
  // An error from another thread arrives as a plain Error with the same code.
  for (const error of [thrown, Object.assign(new Error(message), { code: thrown.code })])
    t.match(toHttpError(error, 200), { status: 400, code: 'invalid_request', message });
});

t.test('if a hook or handler throws null or undefined, the server answers 500', async (t) => {
  for (const thrown of [null, undefined]) t.match(toHttpError(thrown, 200), { status: 500, code: 'internal_error' });
});

t.test(
  'if another service in the process defines an error code, an error with this code has the status of that service',
  async (t) => {
    addErrors({ moved_away: { status: 410 } });
    const error = new HttpError('moved_away' as never, 'It is gone.');
    t.equal(error.settle({}).status, 410);
  },
);
