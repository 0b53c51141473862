/** Advice on how to change a contract, for refusals that do not say it already. */

const ADVICE: [problem: RegExp, advice: string][] = [
  [/^security scheme .* only bearer tokens/, 'type: http, scheme: bearer'],
  [/^security: .* is not in components/, 'declare it there, or take it out'],
  [/in cookie is not supported/, 'send it in a header or the query'],
  [
    /^parameter .*(style|simple types)/,
    'parameters of simple types or arrays of them; what is deeper belongs in a body',
  ],
];

export const toAdvice = (problem: string): string | undefined => ADVICE.find(([pattern]) => pattern.test(problem))?.[1];
