import t from 'tap';
import { nextLink } from '../../../src/engine/replies/pagination.ts';

t.test('a page has one link to the next page, which is made once', async (t) => {
  const [first, second] = [{}, {}];
  let made = 0;
  const toUrl = () => `/v1/pets?page=${++made}`;
  t.equal(nextLink(first, toUrl), '</v1/pets?page=1>; rel="next"');
  t.equal(nextLink(second, toUrl), '</v1/pets?page=2>; rel="next"');
  t.equal(nextLink(first, toUrl), '</v1/pets?page=1>; rel="next"');
});
