import t from 'tap';
import { domain } from '../../src/generated/domain.ts';
import { testStore } from '../store-suite.ts';
import { prepareFilePlace } from './file-place.ts';

t.test('the store passes its tests with pets in a SQLite file', async (t) =>
  testStore(t, { isShared: true, prepare: prepareFilePlace }, domain.pets),
);
