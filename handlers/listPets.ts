import { handle, refuseAt } from 'contract-first';

export default handle('listPets', async ({ query, pets }) => {
  const page = await pets.list(query);
  if (!page) return refuseAt('/query/after', 'unknown', 'is not a cursor that this list has given out');
  return { status: 200, ...page };
});
