import { handle } from 'contract-first';

export default handle('describe', async () => ({ status: 200, body: { measures: ['temperature'] } }));
