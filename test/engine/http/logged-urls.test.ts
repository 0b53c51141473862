import t from 'tap';
import { buildToLogged } from '../../../src/engine/http/logged-urls.ts';

t.test('a key that has delimiters in it is in no logged URL, however it is encoded', async (t) => {
  const key = 'abc/def=ghi+jkl?mn';
  const toLogged = buildToLogged([], [key]);
  for (const sent of [key, encodeURIComponent(key), key.toUpperCase()]) {
    const logged = toLogged(`/v1/pets/${sent}`);
    t.notMatch(decodeURIComponent(logged).toLowerCase(), key, sent);
    t.match(logged, '***');
  }
  t.equal(toLogged('/v1/pets?status=sold'), '/v1/pets?status=sold');
});
