/** Addresses that are none: of the server, and of links between operations. */
import { isNode } from '../../../engine/schema/json.ts';
import { toStep } from '../../../json/pointer.ts';
import type { Node } from './unused-components.ts';
import { entriesAt, operationsIn, type ReportChange } from './written-operations.ts';

/** Characters that no URI has (RFC 3986, section 2). */
const OUTSIDE = /[^!-~]|["<>\\^`{|}]/;

export const isAddress = (value: unknown) => typeof value === 'string' && !OUTSIDE.test(value);

/** A name of a host: with a port, with dots, or this machine. Anything else may be the path of a relative address. */
const HOST = /:[0-9]+$|^localhost$|\.[a-z]{2,}$|^[0-9]+(\.[0-9]+){3}$/i;

const isPathless = (url: string) => /^[^/{]+$/.test(url) && (HOST.test(url) || !isAddress(url));

export function fixAddresses(document: Node, report: ReportChange): void {
  const [server] = Array.isArray(document.servers) ? document.servers : [];
  if (isNode(server) && isPathless(String(server.url ?? '/'))) {
    report(`/servers/0/url is written as /: ${server.url} has no path`);
    server.url = '/';
  }
  for (const { operation } of operationsIn(document)) {
    for (const [, reply] of entriesAt(document, operation, 'responses')) {
      for (const [name, { node: link }] of entriesAt(document, reply, 'links')) {
        if (isAddress(link.operationRef ?? '')) continue;
        delete Object(reply.node.links)[name];
        report(`${reply.at}/links/${toStep(name)} is taken out: its operationRef is no reference`);
      }
    }
  }
}
