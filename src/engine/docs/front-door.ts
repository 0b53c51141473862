/** Where somebody who has nothing but the origin finds the rest: the page for people, the contract for programs. */
import type { FastifyInstance } from 'fastify';
import type { Contract } from '../contract/contract.ts';
import { addDocument } from './documents.ts';

/** RFC 8631 has the relations, RFC 9727 that of the catalogue. */
const LINKS = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</docs>; rel="service-doc"; type="text/html"',
  '</.well-known/api-catalog>; rel="api-catalog"',
].join(', ');

export function addFrontDoor(app: FastifyInstance, { prefix }: Contract): void {
  if (!app.hasRoute({ method: 'GET', url: '/' })) {
    app.get('/', (request, reply) => {
      const isBrowser = /\btext\/html\b/.test(request.headers.accept ?? '');
      reply.headers({ link: LINKS, vary: 'accept' }).redirect(isBrowser ? '/docs' : '/openapi.json');
    });
  }
  // Its URLs are relative to its own: a proxy's origin is not known here.
  const catalogue = {
    linkset: [
      {
        anchor: prefix || '/',
        'service-desc': [
          { href: '/openapi.json', type: 'application/json' },
          { href: '/openapi.yaml', type: 'application/yaml' },
        ],
        'service-doc': [{ href: '/docs', type: 'text/html' }],
        status: [{ href: '/readyz', type: 'application/json' }],
      },
    ],
  };
  addDocument(app, '/.well-known/api-catalog', Buffer.from(JSON.stringify(catalogue)), {
    'content-type': 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    link: '</.well-known/api-catalog>; rel="api-catalog"',
  });
}
