/** Takes out defaults that their own schema refuses: each request that leaves such a value to the server would be refused. */
import { toDoubles } from '../../src/engine/contract/numbers.ts';
import { isNode } from '../../src/engine/schema/json.ts';
import { isNames, isValue } from '../../src/engine/schema/keys.ts';
import { toStep } from '../../src/json/pointer.ts';
import { buildCompile } from './compiled.ts';
import type { Node } from './unused-components.ts';
import type { Tell } from './written-operations.ts';

export function mendDefaults(document: Node, tell: Tell): void {
  const compile = buildCompile(document);

  function visit(node: unknown, at: string, isSchema: boolean, hasNames = false): void {
    if (!isNode(node)) return;
    if (isSchema && !hasNames && node.default !== undefined) dropUnfit(node, at);
    for (const [key, child] of Object.entries(node)) {
      if (!hasNames && isValue(key)) continue;
      visit(child, `${at}/${toStep(key)}`, isSchema || /^schemas?$/.test(key), !hasNames && isNames(key));
    }
  }

  function dropUnfit(node: Node, at: string): void {
    const [problem] = compile(node)?.check(toDoubles(node.default)) ?? [];
    if (!problem) return;
    delete node.default;
    tell(`${at}/default is taken out: its own schema refuses it: ${problem}`);
  }

  visit(document, '', false);
}
