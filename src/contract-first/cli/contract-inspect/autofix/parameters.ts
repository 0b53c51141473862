/** Parameters that say beside their schemas what a schema can say. */
import { namesIn } from '../../../engine/contract/path-names.ts';
import { keywordsOf, type Schema } from '../../../engine/schema/json.ts';
import { isList, isSimple } from '../../../engine/schema/value-types.ts';
import { buildCompile } from './compiled.ts';
import type { Node } from './unused-components.ts';
import { entriesAt, operationsIn, type Placed, type ReportChange } from './written-operations.ts';

/** An empty text. */
const EMPTY = { type: 'string', enum: [''] };

export function fixParameters(document: Node, report: ReportChange): void {
  const compile = buildCompile(document);
  const operations = operationsIn(document);
  const pathsOf = new Map<Node, Set<string>>();
  for (const { path, item } of operations) pathsOf.set(item.node, (pathsOf.get(item.node) ?? new Set()).add(path));
  for (const { path, item, operation } of operations) {
    const parameters = [item, operation].flatMap((one) => entriesAt(document, one, 'parameters'));
    // The names of one path are not those of another with the same item.
    if (pathsOf.get(item.node)?.size === 1) declareNames(path, operation, parameters, report);
    for (const [, { node, at }] of parameters) {
      if (node.allowEmptyValue !== true || !node.schema) continue;
      const compiled = compile(node.schema as Schema);
      // Any other value is no text.
      if (!compiled || !(isSimple(compiled.schema) || isList(compiled.schema))) continue;
      const { schema, check } = compiled;
      const isTaken = [[''], ''].some((empty) => check(empty) === undefined);
      delete node.allowEmptyValue;
      const { default: value } = keywordsOf(schema);
      if (!isTaken) node.schema = { ...(value !== undefined && { default: value }), anyOf: [node.schema, EMPTY] };
      report(
        `${at}/allowEmptyValue is ${isTaken ? 'taken out: its schema takes an empty text' : 'written into its schema'}`,
      );
    }
  }
}

/** A part of a path that nothing describes is a text. */
function declareNames(path: string, { node, at }: Placed, parameters: [string, Placed][], report: ReportChange): void {
  const declared = parameters.filter(([, { node }]) => node.in === 'path').map(([, { node }]) => node.name);
  const names = new Set(namesIn(path).filter(Boolean));
  const { parameters: own = [] } = node;
  if (!Array.isArray(own)) return;
  for (const name of [...names].filter((name) => !declared.includes(name))) {
    node.parameters = own;
    own.push({ name, in: 'path', required: true, schema: { type: 'string' } });
    report(`${at}/parameters has {${name}}, which is in the path: it may be any text`);
  }
}
