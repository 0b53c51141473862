/** Leads from the origin to the rest: people to the page, programs to the contract. */
import type { FastifyInstance } from 'fastify';
import type { AnyContract } from '../contract/contract.ts';
import { toVary } from '../replies/vary.ts';
import { addDocument } from './documents.ts';

/** The relations are from RFC 8631, that of the catalogue from RFC 9727. */
const toLinks = (publicPath: string) =>
  [
    `<${publicPath}/openapi.json>; rel="service-desc"; type="application/json"`,
    `<${publicPath}/docs>; rel="service-doc"; type="text/html"`,
    `<${publicPath}${CATALOGUE}>; rel="api-catalog"`,
  ].join(', ');

const CATALOGUE = '/.well-known/api-catalog';

export function addFrontDoor(app: FastifyInstance, { publicPath, prefix }: AnyContract): void {
  if (!app.hasRoute({ method: 'GET', url: '/' })) {
    app.get('/', (request, reply) => {
      const isBrowser = /\btext\/html\b/.test(request.headers.accept ?? '');
      reply
        .headers({ link: toLinks(publicPath), vary: toVary(reply, 'accept') })
        .redirect(publicPath + (isBrowser ? '/docs' : '/openapi.json'));
    });
  }
  // URLs without an origin: the server does not know a proxy's.
  const catalogue = {
    linkset: [
      {
        anchor: publicPath + prefix || '/',
        'service-desc': [
          { href: `${publicPath}/openapi.json`, type: 'application/json' },
          { href: `${publicPath}/openapi.yaml`, type: 'application/yaml' },
        ],
        'service-doc': [{ href: `${publicPath}/docs`, type: 'text/html' }],
        status: [{ href: `${publicPath}/readyz`, type: 'application/json' }],
      },
    ],
  };
  addDocument(app, CATALOGUE, Buffer.from(JSON.stringify(catalogue)), {
    'content-type': 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    link: `<${publicPath}${CATALOGUE}>; rel="api-catalog"`,
  });
}
