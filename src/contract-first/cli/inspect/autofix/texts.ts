/** Corrects malformed texts: the URL of the server, the references of links, and media types. */
import { PLAIN_JSON, toMediaType } from '../../../engine/contract/replies.ts';
import { isNode } from '../../../engine/schema/json.ts';
import { toPointerToken } from '../../../json/pointer.ts';
import { entriesAt, type Node, operationsIn, type ReportChange } from './written.ts';

/** Matches characters that a URI does not allow (RFC 3986, section 2). */
const OUTSIDE = /[^!-~]|["<>\\^`{|}]/;

export const isAddress = (value: unknown) => typeof value === 'string' && !OUTSIDE.test(value);

/** Matches a host: with a port, with a dot, or `localhost`. Any other text may be a relative path. */
const HOST = /:[0-9]+$|^localhost$|\.[a-z]{2,}$|^[0-9]+(\.[0-9]+){3}$/i;

const isPathless = (url: string) => /^[^/{]+$/.test(url) && (HOST.test(url) || !isAddress(url));

export function fixAddresses(document: Node, report: ReportChange): void {
  const [server] = Array.isArray(document.servers) ? document.servers : [];
  if (isNode(server) && isPathless(String(server.url ?? '/'))) {
    report(`/servers/0/url is written as /: ${server.url} has no path`);
    server.url = '/';
  }
  for (const [, reply] of operationsIn(document).flatMap(({ replies }) => replies)) {
    for (const [name, { node: link }] of entriesAt(document, reply, 'links')) {
      if (isAddress(link.operationRef ?? '')) continue;
      delete Object(reply.node.links)[name];
      report(`${reply.at}/links/${toPointerToken(name)} is taken out: its operationRef is no reference`);
    }
  }
}

const MISTAKES: [RegExp, string][] = [
  [/^application\/(multipart-)?form-?data$/, 'multipart/form-data'],
  [/^(application|multipart)\/(x-)?(www-)?form-?url-?encoded$/, 'application/x-www-form-urlencoded'],
  [/^plain\/text$/, 'text/plain'],
  [/^(json)?$/, PLAIN_JSON],
];

const isType = (name: string) => name.includes('/');

export function fixMediaTypes(document: Node, report: ReportChange): void {
  for (const { body, replies } of operationsIn(document)) {
    for (const { node, at } of [body, ...replies.map(([, reply]) => reply)])
      if (isNode(node.content)) fixContent(node.content, `${at}/content`);
  }

  function fixContent(content: Node, at: string): void {
    for (const name of Object.keys(content)) {
      const [, type] = MISTAKES.find(([mistake]) => mistake.test(toMediaType(name))) ?? [];
      if (type === undefined || type in content) continue;
      content[type] = content[name];
      delete content[name];
      report(`${at}/${toPointerToken(name)} is written as ${type}`);
    }
    const names = Object.keys(content);
    for (const name of names.filter((one) => content[one] === null)) {
      content[name] = {};
      report(`${at}/${toPointerToken(name)} is written as {}: it is empty, and takes anything`);
    }
    for (const name of names.some(isType) ? names.filter((one) => !isType(one)) : []) {
      delete content[name];
      report(`${at}/${toPointerToken(name)} is taken out: it is no media type`);
    }
  }
}
