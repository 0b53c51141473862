/** Builds the check of a request with these query parameters, all of them required, and this schema of its body. */
import { findInt64s } from '../../../src/contract-first/contract/read/keyword-types.ts';
import type { Body, Operation, Parameter } from '../../../src/contract-first/engine/contract/contract.ts';
import type { Texts } from '../../../src/contract-first/engine/requests/parameter-values.ts';
import {
  type Accepted,
  buildCheckRequest,
  type RequestProblems,
} from '../../../src/contract-first/engine/requests/request-checks.ts';
import { buildChecks } from '../../../src/contract-first/engine/schema/checks.ts';
import type { Keywords } from '../../../src/contract-first/engine/schema/json.ts';

export interface Sent {
  query?: Texts;
  body?: unknown;
}

export function build(query: Record<string, Keywords>, body?: object, isStrict = false) {
  const problems: string[] = [];
  const refuse = (problem: string) => problems.push(problem);
  const parameters = Object.entries(query).map(([name, schema]): Parameter => {
    const int64s = findInt64s(schema, name, refuse);
    return {
      name,
      in: 'query',
      required: true,
      schema,
      int64s,
      writing: 'text' as const,
      isOpaque: false,
      keptHours: undefined,
    };
  });
  const operation = {
    id: 'op',
    parameters,
    body: body && ({ required: false, contents: [{ type: 'application/json', kind: 'json', schema: body }] } as Body),
  } as Operation;
  const check = buildCheckRequest(buildChecks({ isJudged: true, isStrict }), operation, refuse);
  if (problems.length > 0) throw new Error(problems.join());
  return ({ query = {}, body }: Sent): Accepted | RequestProblems =>
    check({ params: {}, query, body, headers: {}, raw: { rawHeaders: [] } });
}

export const problemsOf = (checked: Accepted | RequestProblems) =>
  'problems' in checked ? checked.problems.map(String) : [];
