import t from 'tap';
import { domain } from '../../src/generated/domain.ts';
import { openUrl } from '../database.ts';
import { type AnyStore, testSharing, testStore } from '../store-suite.ts';
import { prepareFilePlace } from './file-place.ts';

t.test("two stores on one SQLite file pass the store's tests with pets", async (t) =>
  testSharing(t, { isShared: true, prepare: prepareFilePlace }, domain.pets),
);

t.test('the store passes its tests with pets in a SQLite database in memory', async (t) => {
  const place = { open: () => openUrl('sqlite::memory:') as unknown as AnyStore, execute: () => {}, count: () => 0 };
  testStore(t, { isShared: false, prepare: () => place }, domain.pets);
});
