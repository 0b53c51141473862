import t from 'tap';
import { domain } from '../../src/generated/domain.ts';
import { testStore } from '../store-suite.ts';
import { prepareFilePlace } from './file-place.ts';

t.test('pets are stored in a SQLite file', async (t) =>
  testStore(t, { isShared: true, prepare: prepareFilePlace }, domain.pets),
);
