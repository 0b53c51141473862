import t from 'tap';
import { buildToLogged } from '../../../src/contract-first/engine/http/log/logged-urls.ts';

t.test('a logged URL hides a key that contains / and =, plain, percent-encoded or in upper case', async (t) => {
  const key = 'abc/def=ghi+jkl?mn';
  const toLogged = buildToLogged([], [key]);
  for (const sent of [key, encodeURIComponent(key), key.toUpperCase()]) {
    const logged = toLogged(`/v1/pets/${sent}`);
    t.notMatch(decodeURIComponent(logged).toLowerCase(), key, sent);
    t.match(logged, '***');
  }
  t.equal(toLogged('/v1/pets?status=sold'), '/v1/pets?status=sold');
});

t.test(
  'a logged URL hides a key that was percent-encoded several times, without much processor time for a long URL',
  async (t) => {
    const key = 'abcdefghijklmnop';
    const toLogged = buildToLogged([], [key]);
    const often = (text: string, times: number) =>
      text.replace(/./g, (c) => `%${'25'.repeat(times)}${c.charCodeAt(0).toString(16)}`);
    for (const times of [0, 1, 5]) t.equal(toLogged(`/v1/${often(key, times)}/x`), '/v1/***/x');
    t.equal(toLogged('/v1/%25%32%35%zz%2/%/abc%'), '/v1/%25%32%35%zz%2/%/abc%');
    const before = process.cpuUsage().user;
    toLogged(`/v1/%${'25'.repeat(50_000)}41`);
    t.ok(process.cpuUsage().user - before < 1e6);
  },
);

t.test('a logged URL is cut after about a kilobyte, and the cut never leaves part of a key', async (t) => {
  const key = 'abcdefghijklmnop';
  const toLogged = buildToLogged([], [key]);
  const long = `/v1/${'x'.repeat(1014)}/`;
  t.equal(toLogged(`${long}${key}`), `${long}***`);
  t.equal(toLogged(`${long}/${key}/${key}`), `${long}/***/…`);
});
