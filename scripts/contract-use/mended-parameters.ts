/** Parameters that say beside their schemas what a schema can say. */
import { stringify } from 'lossless-json';
import { isList, isSimple } from '../../src/engine/contract/parameters.ts';
import { buildChecks } from '../../src/engine/schema/checks.ts';
import type { Keywords, Schema } from '../../src/engine/schema/json.ts';
import { buildResolve } from '../../src/engine/schema/references.ts';
import type { Node } from './unused-components.ts';
import { entriesAt, operationsIn, type Tell } from './written-operations.ts';

/** An empty text. */
const EMPTY = { type: 'string', enum: [''] };

export function mendParameters(document: Node, tell: Tell): void {
  const buildCheck = buildChecks({ isChecked: false });
  const resolve = buildResolve(document);

  /** Undefined for what is no text. */
  function takesEmpty(schema: Schema): boolean | undefined {
    const resolved = resolve(schema, () => {});
    if (!isSimple(resolved) && !isList(resolved)) return undefined;
    const check = buildCheck(JSON.parse(stringify(resolved) as string), { name: 'it', at: '/it' }, () => {});
    return [[''], ''].some((empty) => check(empty) === undefined);
  }

  for (const { item, operation } of operationsIn(document)) {
    for (const [, { node, at }] of [item, operation].flatMap((one) => entriesAt(document, one, 'parameters'))) {
      if (node.allowEmptyValue !== true || !node.schema) continue;
      const schema = node.schema as Keywords;
      const isTaken = takesEmpty(schema);
      if (isTaken === undefined) continue;
      delete node.allowEmptyValue;
      if (!isTaken) node.schema = { ...('default' in schema && { default: schema.default }), anyOf: [schema, EMPTY] };
      tell(
        `${at}/allowEmptyValue is ${isTaken ? 'taken out: its schema takes an empty text' : 'written into its schema'}`,
      );
    }
  }
}
