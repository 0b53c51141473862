import t from 'tap';
import { startService } from '../service.ts';
import { CONTRACT, readOperations } from './operations.ts';
import { runProperties } from './property.ts';
import { requestProperties } from './request-properties.ts';

t.test('the server answers any request to each operation as the contract declares', async (t) => {
  const service = await startService(t, { keepAlive: true });
  await runProperties(t, requestProperties(service, readOperations(CONTRACT)));
});
