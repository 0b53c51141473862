/** Serves the root path: it redirects browsers to the page, and programs to the contract. */
import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { Contract } from '../contract/contract.ts';
import { toVary } from '../replies/reply-headers.ts';
import { contractFolder } from './docs.ts';
import { UNLISTED } from './documents.ts';

/**
 * Adds the route of the root path. The `Link` header of the reply refers to the documents, with relations from RFC
 * 8631. `prefix` is the path before the paths of the documents.
 */
export async function addFrontDoor(app: FastifyInstance, contract: Contract, prefix: string): Promise<void> {
  // Plugins may call `app.swagger()`. So @fastify/swagger is registered here, unless the team has registered it.
  const specification = { document: contract.document } as StaticDocumentSpec;
  if (!app.hasDecorator('swagger')) await app.register(swagger, { mode: 'static', specification });
  if (app.hasRoute({ method: 'GET', url: '/' })) return;
  const [docs, folder] = [contract.publicPath + prefix, contractFolder(contract, prefix)];
  const link = [
    `<${docs}${folder}/openapi.json>; rel="service-desc"; type="application/json"`,
    `<${docs}/docs>; rel="service-doc"; type="text/html"`,
  ].join(', ');
  app.get('/', UNLISTED, (request, reply) => {
    const isBrowser = /\btext\/html\b/.test(request.headers.accept ?? '');
    reply
      .headers({ link, vary: toVary(reply, 'accept') })
      .redirect(docs + (isBrowser ? '/docs' : `${folder}/openapi.json`));
  });
}
