/** Media types that are misspelt, and names beside them that are none. */
import { PLAIN_JSON, toMediaType } from '../../../engine/contract/replies.ts';
import { isNode } from '../../../engine/schema/json.ts';
import { toStep } from '../../../json/pointer.ts';
import type { Node } from './unused-components.ts';
import { entriesAt, follow, operationsIn, type ReportChange } from './written-operations.ts';

const MISTAKES: [RegExp, string][] = [
  [/^application\/(multipart-)?form-?data$/, 'multipart/form-data'],
  [/^(application|multipart)\/(x-)?(www-)?form-?url-?encoded$/, 'application/x-www-form-urlencoded'],
  [/^plain\/text$/, 'text/plain'],
  [/^(json)?$/, PLAIN_JSON],
];

const isType = (name: string) => name.includes('/');

export function fixMediaTypes(document: Node, report: ReportChange): void {
  for (const { operation } of operationsIn(document)) {
    const body = follow(document, operation.node.requestBody, `${operation.at}/requestBody`);
    const replies = entriesAt(document, operation, 'responses').map(([, reply]) => reply);
    for (const { node, at } of [body, ...replies]) if (isNode(node.content)) fixContent(node.content, `${at}/content`);
  }

  function fixContent(content: Node, at: string): void {
    for (const name of Object.keys(content)) {
      const [, type] = MISTAKES.find(([mistake]) => mistake.test(toMediaType(name))) ?? [];
      if (type === undefined || type in content) continue;
      content[type] = content[name];
      delete content[name];
      report(`${at}/${toStep(name)} is written as ${type}`);
    }
    const names = Object.keys(content);
    for (const name of names.filter((one) => content[one] === null)) {
      content[name] = {};
      report(`${at}/${toStep(name)} is written as {}: it is empty, and takes anything`);
    }
    for (const name of names.some(isType) ? names.filter((one) => !isType(one)) : []) {
      delete content[name];
      report(`${at}/${toStep(name)} is taken out: it is no media type`);
    }
  }
}
