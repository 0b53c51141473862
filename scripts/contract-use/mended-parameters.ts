/** Parameters that say what means nothing beside their schemas. */
import { stringify } from 'lossless-json';
import { isList, isSimple } from '../../src/engine/contract/parameters.ts';
import { buildChecks } from '../../src/engine/schema/checks.ts';
import type { Schema } from '../../src/engine/schema/json.ts';
import { buildResolve } from '../../src/engine/schema/references.ts';
import type { Node } from './unused-components.ts';
import { entriesAt, operationsIn, type Tell } from './written-operations.ts';

export function mendParameters(document: Node, tell: Tell): void {
  const buildCheck = buildChecks({ isChecked: false });
  const resolve = buildResolve(document);

  function takesEmpty(schema: Schema): boolean {
    const resolved = resolve(schema, () => {});
    if (!isSimple(resolved) && !isList(resolved)) return false;
    const check = buildCheck(JSON.parse(stringify(resolved) as string), { name: 'it', at: '/it' }, () => {});
    return [[''], ''].some((empty) => check(empty) === undefined);
  }

  for (const { item, operation } of operationsIn(document)) {
    for (const [, { node, at }] of [item, operation].flatMap((one) => entriesAt(document, one, 'parameters'))) {
      if (node.allowEmptyValue !== true || !node.schema || !takesEmpty(node.schema as Schema)) continue;
      delete node.allowEmptyValue;
      tell(`${at}/allowEmptyValue is taken out: its schema takes an empty text`);
    }
  }
}
