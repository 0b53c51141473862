/** Compiles schemas of a document that nobody has checked yet, as the server will. */
import { toCurrent } from '../../../contract/read/normal-form.ts';
import { buildResolve } from '../../../contract/schema/references.ts';
import { toDoubles } from '../../../engine/contract/numbers.ts';
import { buildChecks, type Check } from '../../../engine/schema/checks.ts';
import type { Schema } from '../../../engine/schema/json.ts';
import type { Node } from './unused-components.ts';

export interface Compiled {
  /** Without references, in the words of OpenAPI 3.1. */
  schema: Schema;
  check: Check;
}

/** Makes a function that returns undefined for a schema that does not compile: the judgement refuses it. */
export function buildCompile(document: Node): (schema: Schema) => Compiled | undefined {
  const isOlder = String(document.openapi).startsWith('3.0');
  const toOwn = <Kind extends object>(node: Kind): Kind => (isOlder ? toCurrent(node) : node);
  const resolve = buildResolve(toOwn(document));
  const buildCheck = buildChecks({ isJudged: true });
  return (written) => {
    const { schema } = resolve(toOwn({ schema: written }), () => {});
    let isSound = true;
    const check = buildCheck(toDoubles(schema), { name: 'it', at: '/it' }, () => {
      isSound = false;
    });
    return isSound ? { schema, check } : undefined;
  };
}
