/** Leads from the origin to the rest: people to the page, programs to the contract. */
import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { AnyContract } from '../contract/contract.ts';
import { toVary } from '../replies/reply-headers.ts';
import { addDocument } from './documents.ts';

/** The relations are from RFC 8631, that of the catalogue from RFC 9727. */
const toLinks = (publicPath: string, docs: string) =>
  [
    `<${docs}/openapi.json>; rel="service-desc"; type="application/json"`,
    `<${docs}/docs>; rel="service-doc"; type="text/html"`,
    `<${publicPath}${CATALOGUE}>; rel="api-catalog"`,
  ].join(', ');

const CATALOGUE = '/.well-known/api-catalog';

/** `door` has the start of the paths of the documents, and the path of the health check. */
export async function addFrontDoor(
  app: FastifyInstance,
  { document, publicPath, prefix }: AnyContract,
  door: { docs: string; readyz: string | undefined },
): Promise<void> {
  const docs = publicPath + door.docs;
  // For plugins that ask for `app.swagger()`, unless the team has its own.
  const specification = { document } as StaticDocumentSpec;
  if (!app.hasDecorator('swagger')) await app.register(swagger, { mode: 'static', specification });
  if (!app.hasRoute({ method: 'GET', url: '/' })) {
    app.get('/', (request, reply) => {
      const isBrowser = /\btext\/html\b/.test(request.headers.accept ?? '');
      reply
        .headers({ link: toLinks(publicPath, docs), vary: toVary(reply, 'accept') })
        .redirect(docs + (isBrowser ? '/docs' : '/openapi.json'));
    });
  }
  // URLs without an origin: the server does not know a proxy's.
  const catalogue = {
    linkset: [
      {
        anchor: publicPath + prefix || '/',
        'service-desc': [
          { href: `${docs}/openapi.json`, type: 'application/json' },
          { href: `${docs}/openapi.yaml`, type: 'application/yaml' },
        ],
        'service-doc': [{ href: `${docs}/docs`, type: 'text/html' }],
        ...(door.readyz && { status: [{ href: publicPath + door.readyz, type: 'application/json' }] }),
      },
    ],
  };
  const headers = {
    'content-type': 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    link: `<${publicPath}${CATALOGUE}>; rel="api-catalog"`,
  };
  addDocument(app, CATALOGUE, headers, async () => ({ body: Buffer.from(JSON.stringify(catalogue)) }));
}
