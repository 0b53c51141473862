import t from 'tap';
import { parse, stringify } from 'yaml';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { withPrefix, withPublicPath } from '../../../src/contract-first/engine/contract/operator-changes.ts';
import { loadOurs, startService } from '../../service.ts';

const PUBLIC = '/shop/petstore';

t.test('behind a proxy that strips a path prefix, all links of the server include that prefix', async (t) => {
  const contract = withPublicPath((await loadOurs()).contract, PUBLIC);
  const { app, request } = await startService(t, { contract });
  const body = { name: 'Rex', categoryId: 7 };
  for (const id of [1, 2]) {
    const { headers } = await request('/v1/pets', { method: 'POST', body });
    t.equal(headers.location, `${PUBLIC}/v1/pets/${id}`);
  }
  t.match((await request('/v1/pets?limit=1')).headers.link, `<${PUBLIC}/v1/pets?limit=1&after=`);
  t.equal((await request('/v1/pets/1')).headers.link, `<${PUBLIC}/v1/pets>; rel="successor-version"`);
  for (const [accept, location] of Object.entries({ 'text/html': '/docs', '*/*': '/openapi.json' })) {
    const { headers } = await app.inject({ url: '/', headers: { accept } });
    t.equal(headers.location, PUBLIC + location);
    for (const path of ['/openapi.json', '/docs']) t.match(headers.link, `<${PUBLIC}${path}>`);
  }
});

t.test(
  'behind a proxy that strips a path prefix, only the server URLs of the served contract change: they get the prefix',
  async (t) => {
    const loaded = (await loadOurs()).contract;
    const { app } = await startService(t, { contract: withPublicPath(loaded, PUBLIC) });
    const [here, ...others] = loaded.document.servers ?? [];
    const expected = { ...JSON.parse(loaded.json), servers: [{ ...here, url: `${PUBLIC}/v1` }, ...others] };
    t.strictSame((await app.inject('/openapi.json')).json(), expected);
    const { body } = await app.inject('/openapi.yaml');
    t.strictSame(parse(body), expected);
    const file = loaded.yaml.toString();
    t.strictSame(
      body.split('\n').filter((line) => !file.includes(line)),
      [`   ${JSON.stringify(expected.servers)}`],
      'all other lines equal those of the file, even comments',
    );
    const twice = withPublicPath(withPrefix(loaded, '/v2'), PUBLIC);
    t.strictSame(parse(twice.yaml.toString()), JSON.parse(twice.json));
    t.equal(withPublicPath(loaded, ''), loaded);
  },
);

t.test(
  'behind a proxy that strips a path prefix, the server adds a server URL to a contract that declares no servers',
  async (t) => {
    const source = (await loadOurs()).contract.document;
    const { servers: _, ...rest } = source;
    const contract = withPublicPath(
      await loadContract(`${t.testdir({ 'bare.json': JSON.stringify(rest) })}/bare.json`),
      PUBLIC,
    );
    t.strictSame(JSON.parse(contract.json).servers, [{ url: PUBLIC }]);
    t.equal(contract.yaml.toString(), contract.json);
    for (const text of [
      stringify(rest),
      `# Ours\n${stringify(rest)}`.trimEnd(),
      `${stringify(rest)}servers: &s [{ url: / }]\nx-s: *s\n`,
    ]) {
      const file = `${t.testdir({ 'bare.yaml': text })}/bare.yaml`;
      const { yaml, json } = withPublicPath(await loadContract(file), PUBLIC);
      t.strictSame(parse(yaml.toString()), JSON.parse(json));
      t.match(JSON.parse(json).servers[0].url, PUBLIC);
    }
  },
);

t.test(
  "a path prefix set by the operator replaces the contract's own prefix in each server URL that ends with it",
  async (t) => {
    const { document } = (await loadOurs()).contract;
    const read = async (...urls: string[]) => {
      const text = JSON.stringify({ ...document, servers: urls.map((url) => ({ url })) });
      return loadContract(`${t.testdir({ 'moved.json': text })}/moved.json`);
    };
    const moved = withPrefix(await read('/v1/', 'https://pets.example/v1', 'https://pets.example/other'), '/shop');
    const servers = [{ url: '/shop' }, { url: 'https://pets.example/shop' }, { url: 'https://pets.example/other' }];
    t.strictSame(JSON.parse(moved.json).servers, servers);
    t.match(moved, { prefix: '/shop', document: { servers }, yaml: Buffer.from(moved.json) });
    t.strictSame(withPrefix(await read('/v1'), '').document.servers, [{ url: '/' }]);
  },
);
