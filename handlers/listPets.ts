import { handle, nextLink, refuseAt } from 'contract-first';

export default handle('listPets', async ({ query, pets, urlOf }) => {
  const page = await pets.list(query);
  if (!page) return refuseAt('/query/after', 'unknown', 'is not a cursor that this list has given out');
  const { body, next } = page;
  if (next === undefined) return { status: 200, body };
  const Link = nextLink(page, urlOf, 'listPets', {}, query, { after: next });
  return { status: 200, body, headers: { Link } };
});
