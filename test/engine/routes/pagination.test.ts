import t from 'tap';
import type { AnyContext } from '../../../src/contract-first/engine/routes/handler.ts';
import { nextLink } from '../../../src/contract-first/engine/routes/pagination.ts';

t.test('a page has one link to the next page, which is made once for the same parameters', async (t) => {
  const [first, second] = [{}, {}];
  let made = 0;
  const urlOf = ((id: string, _params: object, query: object, changes: object) =>
    `/${id}?${Object.values({ ...query, ...changes }).join('&')}=${++made}`) as AnyContext['urlOf'];
  const linkOf = (page: object, query: object) => nextLink(page, urlOf, 'listPets', {}, query, { after: 'x' });
  t.equal(linkOf(first, { limit: 1 }), '</listPets?1&x=1>; rel="next"');
  t.equal(linkOf(second, { limit: 1 }), '</listPets?1&x=2>; rel="next"');
  t.equal(linkOf(first, { limit: 1 }), '</listPets?1&x=1>; rel="next"');
  t.equal(linkOf(first, { limit: 1, fields: 'name' }), '</listPets?1&name&x=3>; rel="next"');
  t.equal(linkOf(first, { limit: 1 }), '</listPets?1&x=4>; rel="next"');
  t.equal(nextLink(first, urlOf, 'getPet', { petId: 7n }, {}, {}), '</getPet?=5>; rel="next"');
});
