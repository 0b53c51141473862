/** Takes out defaults of requests that their own schema refuses: each request that leaves such a value to the server would be refused. */
import { FILLED, isQuick } from '../../../contract/schema/impossible.ts';
import { toDoubles } from '../../../engine/contract/numbers.ts';
import { isNode } from '../../../engine/schema/json.ts';
import { ONE, subschemasOf } from '../../../engine/schema/subschemas.ts';
import { toStep } from '../../../json/pointer.ts';
import { buildCompile } from './compiled.ts';
import type { Node } from './unused-components.ts';
import { entriesAt, follow, operationsIn, type Placed, type ReportChange } from './written-operations.ts';

export function fixDefaults(document: Node, report: ReportChange): void {
  const compile = buildCompile(document);
  const seen = new Set<unknown>();
  for (const { item, operation } of operationsIn(document)) {
    const parameters = [item, operation].flatMap((one) => entriesAt(document, one, 'parameters'));
    const body = follow(document, operation.node.requestBody, `${operation.at}/requestBody`);
    for (const holder of [...parameters.map(([, parameter]) => parameter), body]) {
      const contents = entriesAt(document, holder, 'content').map(([, media]) => media);
      for (const { node, at } of [holder, ...contents]) visit(node.schema, `${at}/schema`);
    }
  }

  /** The schemas whose defaults are filled in. */
  function visit(node: unknown, at: string): void {
    if (!isNode(node) || seen.has(node)) return;
    seen.add(node);
    if (node.default !== undefined) dropUnfit({ node, at });
    const target = follow(document, node, at);
    visit(target.node, target.at);
    for (const { subschema, keyword, name } of subschemasOf(node)) {
      // A request has no field that only replies have.
      if (!FILLED.includes(keyword) || (keyword === 'properties' && Object(subschema).readOnly === true)) continue;
      visit(subschema, `${at}/${keyword}${ONE.includes(keyword) ? '' : `/${toStep(name)}`}`);
    }
  }

  function dropUnfit({ node, at }: Placed): void {
    const { schema, check } = compile(node) ?? {};
    if (!check || !isQuick(schema)) return;
    // A bigint may be an integer of 64 bits, or one that is written for a double.
    const [problem, ...others] = [toDoubles(node.default), node.default].map((value) => check(value)?.[0]);
    if (!problem || others.includes(undefined)) return;
    delete node.default;
    report(`${at}/default is taken out: its own schema refuses it: ${problem}`);
  }
}
