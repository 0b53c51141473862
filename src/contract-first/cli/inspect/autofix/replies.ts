/** Changes the contract so that it describes the errors and headers that the server itself sends. */
import { stringify } from 'lossless-json';
import { codesOf, type Replying } from '../../../contract/checks/server-errors.ts';
import { missingHeaders, RETRIED, RETRY_AFTER, reportHeader, TEXT } from '../../../contract/checks/server-replies.ts';
import { toTypes } from '../../../contract/read/bodies.ts';
import type { Reply } from '../../../engine/contract/contract.ts';
import type { MediaNode } from '../../../engine/contract/document.ts';
import { isJson, PLAIN_JSON, replyFor } from '../../../engine/contract/replies.ts';
import { buildCatalogue } from '../../../engine/errors/catalogue.ts';
import { REQUEST_IDS } from '../../../engine/replies/reply-headers.ts';
import { isNode, type Schema } from '../../../engine/schema/json.ts';
import { toPointerToken } from '../../../json/pointer.ts';
import { buildCompile, entriesAt, type Node, type NodeAt, operationsIn, type ReportChange } from './written.ts';

/**
 * The error codes of a service without collections. Collections may add codes, but a new service is still without
 * collections.
 */
const OWN_CODES = buildCatalogue({});

/**
 * A reply: `reply` is its node in the document, and `own` and `operation` are of the types that the engine's checks
 * expect.
 */
interface Written {
  reply: NodeAt;
  own: Pick<Reply, 'status' | 'headers'>;
  operation: Replying;
}

export function fixReplies(document: Node, report: ReportChange): void {
  const replies = operationsIn(document).flatMap(({ path, replies }): Written[] => {
    const written = replies.map(([status, reply]) => {
      const headers = entriesAt(document, reply, 'headers').map(([name, { node }]) => [name, node]);
      return { reply, own: { status, headers: Object.fromEntries(headers) } };
    });
    const operation = { path, deprecation: undefined, replies: written.map(({ own }) => own) };
    return written.map((one) => ({ ...one, operation }));
  });
  fixHeaders(document, replies, report);
  const isSent = ({ own, operation }: Written) => Object.keys(codesOf(own, operation, OWN_CODES)).length > 0;
  addJson(replies.filter(isSent), report);
}

/**
 * Adds the media type JSON to errors that have neither JSON nor text, because the server sends its errors only in these
 * types. If all JSON errors of the contract share one schema, the added type also gets this schema.
 */
function addJson(replies: Written[], report: ReportChange): void {
  const contents = replies.flatMap(({ reply: { node, at } }) =>
    isNode(node.content) ? [{ at: `${at}/content`, content: node.content as Record<string, MediaNode> }] : [],
  );
  const typesOf = (content: Record<string, MediaNode>) => toTypes(content, '', () => {});
  const ofJson = contents.flatMap(({ content }) => typesOf(content).filter(({ type }) => isJson(type)));
  const [schema, ...others] = new Map(ofJson.map(({ media }) => [stringify(media?.schema), media?.schema])).values();
  for (const { at, content } of contents) {
    const types = typesOf(content).map(({ type }) => type);
    if (types[0] === undefined || TEXT.test(types[0]) || types.some(isJson)) continue;
    content[PLAIN_JSON] = schema === undefined || others.length > 0 ? {} : { schema };
    report(`${at}: ${PLAIN_JSON} is added: the server's own errors are JSON`);
  }
}

/**
 * Changes the schemas of headers so that the values sent by the server fit. Makes headers of errors optional if the
 * server does not send them.
 */
function fixHeaders(document: Node, replies: Written[], report: ReportChange): void {
  const compile = buildCompile(document);
  for (const { reply, own, operation } of replies) {
    const isRetried = RETRIED.some((status) => replyFor(operation.replies, status) === own);
    const sent: Record<string, string[]> = {
      'x-request-id': REQUEST_IDS,
      ...(isRetried && { 'retry-after': RETRY_AFTER }),
    };
    const missing = missingHeaders(own, operation, OWN_CODES);
    for (const [name, { node: header, at }] of entriesAt(document, reply, 'headers')) {
      const values = sent[name.toLowerCase()];
      if (values) fixOne(name, header, at, values);
      if (!missing.includes(name) || !header.required) continue;
      // Replaces the header by a copy without `required`, because other replies may refer to the same header.
      const { required, ...others } = header;
      Object.assign(Object(reply.node.headers), { [name]: others });
      report(
        `${reply.at}/headers/${toPointerToken(name)}/required is taken out: errors of the server have no such header`,
      );
    }
  }

  function fixOne(name: string, header: Node, at: string, values: string[]): void {
    const compiled = compile((header.schema ?? {}) as Schema);
    if (!compiled) return;
    const reply = { headers: { [name]: { schema: compiled.schema } } };
    reportHeader(
      () => compiled.check,
      reply,
      name.toLowerCase(),
      values,
      () => {
        header.schema = { type: 'string' };
        report(`${at}/schema is written as type: string: the server sends ${values[0]}`);
      },
    );
  }
}
