import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { operation, serve, withPaths } from '../../added-operations.ts';
import { edited } from '../../edited-contract.ts';
import { nextOf, type ReceivedReply, startService } from '../../service.ts';

const PAGING = '^(<[^>]+>; rel="next", )?<[^>]+>; rel="successor-version"$';

/** The contract with listPets deprecated as well, and with its deprecation headers on every reply. */
const YAML = edited(({ listPets, contract, headers }) => {
  Object.assign(listPets, { deprecated: true, 'x-deprecated-at': '2026-11-20', 'x-sunset': '2999-12-05' });
  listPets['x-successor'] = 'createPet';
  for (const [status, response] of Object.entries<{ $ref?: string }>(listPets.responses)) {
    const name = response.$ref?.replace('#/components/responses/', '') as string;
    const inPlace = structuredClone(response.$ref ? contract.components.responses[name] : response);
    Object.assign(inPlace.headers, {
      Deprecation: { $ref: '#/components/headers/Deprecation' },
      Sunset: { $ref: '#/components/headers/Sunset' },
      Link: { ...headers.Successor, schema: { type: 'string', pattern: PAGING }, examples: undefined },
    });
    listPets.responses[status] = inPlace;
  }
});

async function start(t: Test) {
  const file = join(t.testdir({ 'petstore.yaml': YAML }), 'petstore.yaml');
  const service = await startService(t, { contract: await loadContract(file), yaml: YAML });
  for (let count = 0; count < 5; count++) {
    await service.request('/v1/pets', { method: 'POST', body: { name: `Rex ${count}`, categoryId: 7 } });
  }
  return service;
}

t.test('each page of a deprecated list links to the next page and to the successor operation', async (t) => {
  const { request } = await start(t);
  const replies: ReceivedReply[] = [];
  for (let url: string | undefined = '/v1/pets?limit=2'; url; url = nextOf(replies.at(-1) as ReceivedReply)) {
    replies.push(await request(url));
  }
  t.strictSame(
    replies.map(({ body }) => (body as { id: number }[]).map(({ id }) => id)),
    [[1, 2], [3, 4], [5]],
  );
  for (const { headers } of replies) t.match(headers.link, /(^|, )<\/v1\/pets>; rel="successor-version"$/);
});

t.test('an error of a deprecated list links only to the successor operation', async (t) => {
  const { request } = await start(t);
  const { status, headers } = await request('/v1/pets?limit=0');
  t.equal(status, 400);
  t.equal(headers.link, '</v1/pets>; rel="successor-version"');
});

t.test(
  'a reply of a deprecated operation has only those deprecation headers whose values the contract declares',
  async (t) => {
    const known: [name: string, value: string, header: string, sent: string][] = [
      ['x-deprecated-at', '2026-11-20', 'deprecation', '@1795132800'],
      ['x-sunset', '2999-12-05', 'sunset', 'Thu, 05 Dec 2999 00:00:00 GMT'],
      ['x-successor', 'listPets', 'link', '</v1/pets>; rel="successor-version"'],
    ];
    const cases = [[], ...known.map((one) => [one]), known];
    for (const parts of cases) {
      const declared = parts.map(([, , header]) => [header, { schema: { type: 'string' } }]);
      const response = { headers: Object.fromEntries(declared), content: { 'application/json': { schema: {} } } };
      const responses = { '200': response, '400': response, '401': response, default: response };
      const old = operation('old', { deprecated: true, ...Object.fromEntries(parts), responses });
      const { request } = await serve(t, withPaths({ '/old': { get: old } }), {
        old: () => ({ status: 200, body: [] }),
      });
      const expected = Object.fromEntries(parts.map(([, , header, sent]) => [header, sent]));
      for (const url of ['/v1/old', '/v1/old?q=1']) {
        const { deprecation, sunset, link } = (await request(url)).headers;
        t.strictSame(JSON.parse(JSON.stringify({ deprecation, sunset, link })), expected);
      }
    }
  },
);
