import { refuse } from '../src/http/errors.ts';
import { fromCursor, nextLink, toCursor } from '../src/replies/pagination.ts';
import { handle } from '../src/routes/handler.ts';

export default handle('listPets', async ({ query, store, urlOf }) => {
  const { limit, status } = query;
  const after = query.after === undefined ? undefined : fromCursor(query.after, status);
  if (query.after !== undefined && after === undefined) {
    return refuse('invalid_request', 'query.after is not a cursor that this list has given out');
  }
  const page = await store.listPets({ limit, status, after });
  const { body, next } = page;
  if (next === undefined) return { status: 200, body };
  const Link = nextLink(page, () => urlOf('listPets', {}, query, { after: toCursor(next, status) }));
  return { status: 200, body, headers: { Link } };
});
