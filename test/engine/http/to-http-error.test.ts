import t from 'tap';
import { toHttpError } from '../../../src/engine/http/errors/thrown.ts';
import { StoreUnavailable } from '../../../src/store/store.ts';

t.test('an outage of the store is a 503, whether or not it has a cause', async (t) => {
  const cause = new Error('the disk is gone');
  t.match(toHttpError(new StoreUnavailable(cause), 200), { status: 503, code: 'unavailable', cause });
  const outage = new StoreUnavailable(undefined);
  t.match(toHttpError(outage, 200), { status: 503, code: 'unavailable', cause: outage });
});

t.test('nothing that is thrown is a fault of the service', async (t) => {
  for (const thrown of [null, undefined]) t.match(toHttpError(thrown, 200), { status: 500, code: 'internal_error' });
});
