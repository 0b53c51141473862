/** Finds patterns of a contract that are none, or could hang the server, because they take more than linear time. */
import type { ReadContract } from '../engine/contract/contract.ts';
import { inAllTypes } from '../engine/contract/replies.ts';
import { toRegExp } from '../engine/schema/ajv.ts';
import type { Schema } from '../engine/schema/json.ts';
import { subschemasOf, targetOf } from '../engine/schema/subschemas.ts';
import { type Budget, boundOf, degreeOf, newBudget } from './linear.ts';

/** How many steps a match may take: some milliseconds. */
const STEPS = 1_000_000;

/** The patterns, one line each, with the first operation that has it. Headers of replies are left out, since clients do not send them. */
export function describeSlowPatterns({ operations }: ReadContract, budget = newBudget()): string[] {
  const seen = new Set<Schema>();
  const reported = new Map<string, string>();
  for (const { id, parameters, body, replies } of operations.values()) {
    const schemas = [...parameters, ...(body?.contents ?? []), ...inAllTypes(replies)].map(({ schema }) => schema);
    for (const schema of schemas) visit(schema, `operation ${id}`);
  }
  return [...reported.values()];

  function visit(schema: Schema | undefined, owner: string): void {
    if (typeof schema !== 'object' || seen.has(schema)) return;
    seen.add(schema);
    const { pattern, maxLength, patternProperties = {}, propertyNames } = schema;
    if (typeof pattern === 'string') judge(pattern, maxLength, owner);
    for (const name of Object.keys(patternProperties)) judge(name, undefined, owner);
    for (const inner of [targetOf(schema), propertyNames]) visit(inner, owner);
    for (const { subschema } of subschemasOf(schema)) visit(subschema, owner);
  }

  function judge(pattern: string, maxLength: number | undefined, owner: string): void {
    const fault = reported.has(pattern) ? undefined : findFault(pattern, maxLength, budget);
    if (fault) reported.set(pattern, `${owner}: the pattern ${pattern} ${fault}`);
  }
}

function findFault(pattern: string, maxLength = Number.POSITIVE_INFINITY, budget: Budget): string | undefined {
  const expression = readExpression(pattern);
  if (typeof expression === 'string') return expression;
  const bound = boundOf(expression);
  // At the positions in a text, half of it is left on average.
  if (bound && maxLength ** bound.degree * Math.min(bound.size, (maxLength + 1) / 2) <= STEPS) return undefined;
  const isLate = budget.left < budget.one;
  const degree = degreeOf(expression, budget);
  if (degree === undefined) {
    // Verdicts are stored, so that another run has more steps for the others.
    const [steps, again] = isLate ? [' in the steps that others left', 'run it again, or '] : ['', ''];
    const most = bound && `add maxLength: ${longest(bound.degree, bound.size)} at most, or `;
    return `is too complex to tell${steps} whether it would stop the server: ${again}${most ?? ''}write it with fewer groups, alternatives and counts`;
  }
  if (degree === 1 || maxLength ** degree <= STEPS) return undefined;
  if (degree === Number.POSITIVE_INFINITY) {
    return 'takes so long for some short texts that they would stop the server: let nothing that repeats stand in something that repeats';
  }
  return `takes the length of a text to the power of ${degree}: add maxLength: ${longest(degree)} at most, or let no two parts that follow each other take the same letters`;
}

const longest = (degree: number, size = 1) => Math.floor((STEPS / size) ** (1 / degree));

function readExpression(pattern: string): RegExp | string {
  try {
    return toRegExp(pattern, 'u');
  } catch (error) {
    return `is no regular expression of JavaScript: ${(error as Error).message}`;
  }
}
