import t, { type Test } from 'tap';
import { type Budget, findSlowPatterns } from '../../src/contract-first/cli/patterns.ts';
import { load, operation, withPaths, wordsOf } from '../added-operations.ts';
import type { Json } from '../any-json.ts';

const text = (pattern: string, others: Json = {}) => ({ type: 'string', pattern, ...others });
const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
const SQUARE = '^a*a*$';
const ENDLESS = '^(a+)+$';

/**
 * Returns the problems of an operation with this definition. The contract contains other slow patterns only in an
 * unused schema.
 */
async function reported(t: Test, source: Json, budget?: Budget): Promise<string[]> {
  const yaml = withPaths({ '/echoes': { post: operation('echo', source) } }, ({ schemas }) => {
    schemas.Node = { properties: { name: text(ENDLESS), next: { $ref: '#/components/schemas/Node' } } };
  });
  const problems = wordsOf(findSlowPatterns(await load(t, yaml), budget));
  // Without a budget of steps, the patterns of the pet store also get no verdict, so problems of other operations are
  // left out.
  return problems.filter((problem) => problem.startsWith('operation echo'));
}

t.test(
  'if a regular expression in a contract takes more than linear time, one error names it and the fix',
  async (t) => {
    const slow = text(ENDLESS);
    const places: [place: string, source: Json][] = [
      ['a parameter', { parameters: [{ name: 'q', in: 'query', schema: slow }] }],
      ['a field', { requestBody: json({ properties: { a: { items: slow }, b: slow } }) }],
      ['the names of fields', { requestBody: json({ propertyNames: slow }) }],
      ['names by a pattern', { requestBody: json({ patternProperties: { [ENDLESS]: {} } }) }],
      ['a schema that refers to itself', { requestBody: json({ $ref: '#/components/schemas/Node' }) }],
      ['a reply', { responses: { '200': json(slow) } }],
    ];
    const endless = /^operation echo: the pattern \^\(a\+\)\+\$ takes so long .* avoid nested repetition/;
    for (const [place, source] of places) {
      const problems = await reported(t, source);
      t.match(problems, [endless], place);
      t.equal(problems.length, 1, place);
    }
    t.match(await reported(t, { requestBody: json(text(SQUARE)) }), [
      /^operation echo: the pattern \^a\*a\*\$ takes the length of a text to the power of 2: add maxLength: 1000 at most/,
    ]);
  },
);

t.test(
  'a regular expression in a contract is accepted if it takes linear time or if its maxLength is small',
  async (t) => {
    t.strictSame(await reported(t, { requestBody: json(text('^[a-z]+$')) }), []);
    t.strictSame(await reported(t, { requestBody: json(text(SQUARE, { maxLength: 1000 })) }), []);
    t.equal((await reported(t, { requestBody: json(text(SQUARE, { maxLength: 1001 })) })).length, 1);
    t.equal((await reported(t, { requestBody: json(text(ENDLESS, { maxLength: 40 })) })).length, 1);
    t.strictSame(
      await reported(t, { requestBody: json({ propertyNames: true, properties: { pattern: { const: 'a' } } }) }),
      [],
    );
  },
);

t.test('if a regular expression in a contract is invalid, the error names the operation that uses it', async (t) => {
  const [problem, ...others] = await reported(t, { requestBody: json(text('(')) });
  t.match(problem, /^operation echo: the pattern \( is not a regular expression of JavaScript: .*Unterminated group/);
  t.strictSame(others, []);
  t.match(await reported(t, { requestBody: json(text('\\p{IsLatin}')) }), [
    / write its characters, such as \[A-Za-z\]$/,
  ]);
});

const NO_STEPS = { one: 3_000_000, left: 0 };

t.test('the check for slow regular expressions has the same result on a slow and on a fast machine', async (t) => {
  const { now } = performance;
  const dateTime =
    '([0-9]([0-9]([0-9][1-9]|[1-9]0)|[1-9]00)|[1-9]000)(-(0[1-9]|1[0-2])(-(0[1-9]|[1-2][0-9]|3[0-1])(T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?(Z|(\\+|-)((0[0-9]|1[0-3]):[0-5][0-9]|14:00)))?)?)?';
  const all = ['^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$', '^\\+[0-9]{1,3}-[0-9()+\\-]{1,30}$', dateTime];
  const requestBody = json({ prefixItems: all.map((one) => text(one)) });
  let hours = 0;
  performance.now = () => ++hours * 3_600_000;
  const problems = await reported(t, { requestBody });
  performance.now = now;
  t.strictSame(problems, []);
});

/** A pattern for which the checker needs millions of steps. */
const COMPLEX = '(["][ -~]{300}["])';

t.test('if a regular expression is too complex to check, the contract is rejected with a proposal', async (t) => {
  const all = [text(COMPLEX), text(COMPLEX, { maxLength: 9 }), text(`${COMPLEX}x`)];
  const problems = await reported(t, { requestBody: json({ prefixItems: all }) }, { one: 1, left: 1000 });
  t.equal(problems.length, 2);
  t.match(problems, [
    /^operation echo: the pattern .* is too complex to tell whether .*: write it with fewer groups/,
    /\)x is too/,
  ]);
  const others = { requestBody: json({ properties: { a: text('["][ -~]{1001}["]'), b: text('^(never|asked)$') } }) };
  const [plain, either] = await reported(t, others, NO_STEPS);
  // The checker remembers verdicts, so that the next run has more steps for the remaining patterns.
  t.match(
    plain,
    / is too complex to tell in the steps that others left .*: run it again, or add maxLength: 997 at most, or/,
  );
  t.match(either, / \^\(never\|asked\)\$ is too complex .*: run it again, or write it/);
});

t.test(
  'a regular expression without groups and unbounded repetitions is accepted without an expensive check',
  async (t) => {
    const none = (...schemas: Json[]) => reported(t, { requestBody: json({ prefixItems: schemas }) }, NO_STEPS);
    t.strictSame(
      await none(
        text('[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-5][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}'),
        text('^\\p{Lu}[\\]a-z]{0,254}\\.$'),
        text('["][ -~]{1000}["]', { maxLength: 1002 }),
        text('[0-9]+[.][0-9]+', { maxLength: 60 }),
      ),
      [],
    );
    const open = await none(...['[a-y]{201}', '[0-8]+w', '^q*w*$', '^qw*z?y$'].map((pattern) => text(pattern)));
    t.equal(open.length, 4);
    for (const problem of open) t.match(problem, /too complex/);
  },
);
