/**
 * Schemas that are large or used many times: each is compiled once, and checks values as if it were compiled at each
 * use.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import t, { type Test } from 'tap';
import { findInt64s } from '../../../src/contract-first/contract/read/keyword-types.ts';
import { buildResolve } from '../../../src/contract-first/contract/read/references.ts';
import { buildChecks, type CheckOptions } from '../../../src/contract-first/engine/schema/checks.ts';
import { buildRewriteForAjv } from '../../../src/contract-first/engine/schema/prepared.ts';
import { type Compiler, ValidatorCache } from '../../../src/contract-first/engine/schema/validator-cache.ts';
import type { Json } from '../../any-json.ts';

const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more });
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const string = { type: 'string' };

/** Makes a schema with enough fields to count as large. */
const large = (fields: Json = {}): Json =>
  object({ ...Object.fromEntries(Array.from({ length: 310 }, (_, index) => [`text${index}`, string])), ...fields });

interface Source {
  isJudged?: boolean;
  isStrict?: boolean;
  schemas?: Record<string, Json>;
}

/**
 * Opens a contract with these schemas. Returns a function that builds checks, the problems that it reports, and a count
 * of compiled functions.
 */
function open(t: Test, { isJudged = true, isStrict = false, schemas = {} }: Source = {}) {
  const compiled = t.capture(Ajv2020.prototype, 'compile', Ajv2020.prototype.compile);
  const buildCheck = buildChecks({ isJudged, isStrict });
  const resolve = buildResolve({ components: { schemas } });
  const refused: string[] = [];
  const build = (schema: Json, options: Partial<CheckOptions> = {}) =>
    buildCheck(resolve({ schema }, (words) => t.fail(words)).schema, { name: 'value', ...options }, (problem) =>
      refused.push(problem),
    );
  let count = 0;
  const counted = () => {
    count += compiled().length;
    return count;
  };
  return { build, refused, counted, compileNext: buildCheck.compileNext };
}

t.test('equal large schemas are compiled once, wherever and however often a contract contains them', async (t) => {
  const { build, refused, counted } = open(t);
  const first = build(object({ error: large(), others: { type: 'array', items: large() } }));
  const before = counted();
  const others = Array.from({ length: 20 }, (_, index) => build(object({ error: large({}), [`own${index}`]: string })));
  t.equal(before, 2);
  t.equal(counted(), before + others.length, 'each of the other schemas adds only one small function');
  build({
    description: 'The first, in other words',
    ...object({ error: large(), others: { type: 'array', items: large() } }),
  });
  t.equal(counted(), before + others.length);
  t.strictSame(refused, []);
  for (const check of [first, ...others]) {
    t.equal(check({ error: { text3: 'x' } }), undefined);
    t.strictSame(check({ error: { text3: 3 } })?.map(String), ['error.text3 must be of type string']);
  }
});

t.test('a schema that is reachable over a million paths takes no more memory than its distinct parts', async (t) => {
  const depths = Array.from({ length: 20 }, (_, depth) => depth);
  const schemas = Object.fromEntries(
    depths.map((depth) => [
      `At${depth}`,
      object({ left: ref(`At${depth + 1}`), right: ref(`At${depth + 1}`), deep: { type: 'integer', format: 'int64' } }),
    ]),
  );
  const { build, refused, counted } = open(t, {
    schemas: { ...schemas, At20: object({ name: { ...string, readOnly: true } }) },
  });
  const check = build(ref('At0'));
  t.ok(counted() <= depths.length, 'the number of functions is limited');
  t.strictSame(refused, []);
  const nest = (steps: number, inner: Json): Json => (steps === 0 ? inner : { right: nest(steps - 1, inner) });
  t.equal(check(nest(20, { name: 'x' })), undefined);
  t.match(check(nest(20, { name: 1 }))?.join(), /^(right\.){20}name must be of type string$/);
});

t.test(
  'the server fills in a default in a large schema, unless the large schema is an alternative of an anyOf',
  async (t) => {
    const { build, refused } = open(t);
    const fillsDefaults = true;
    const place = large({ city: { ...string, default: 'Rome' } });
    const check = build(object({ place: { ...place, default: {} }, other: { anyOf: [place, string] } }), {
      fillsDefaults,
    });
    const value: Json = { other: {} };
    t.equal(check(value), undefined);
    t.strictSame(value, { place: { city: 'Rome' }, other: {} });
    t.strictSame(refused, []);
    const strict = open(t, { isStrict: true });
    strict.build(object({ other: { anyOf: [place, string] } }), { fillsDefaults });
    t.strictSame(strict.refused, ['value.other: strict mode: default is ignored for: city']);
  },
);

t.test(
  '64-bit integers of a large schema are exact even if only another part of an allOf declares their format',
  async (t) => {
    const { build, refused } = open(t);
    const schema = {
      allOf: [
        object({ owner: large({ id: { type: 'integer', format: 'int64' } }) }),
        object({ owner: large({ id: { type: 'integer' } }) }),
      ],
    };
    const check = build(schema, { int64s: findInt64s(schema, '', (words) => t.fail(words)) });
    t.equal(check({ owner: { id: 9007199254740993n } }), undefined);
    t.match(check({ owner: { id: 2n ** 63n } })?.join(), /owner\.id must be a 64-bit integer/);
    t.strictSame(refused, []);
  },
);

t.test(
  'a large schema that cannot be compiled is reported at each of its uses, and does not affect other schemas',
  async (t) => {
    const bad = large({ code: { ...string, pattern: '(' }, child: ref('Bad') });
    const { build, refused } = open(t, { schemas: { Bad: bad } });
    build(object({ a: ref('Bad') }));
    build(object({ a: large() }));
    build(object({ b: ref('Bad') }));
    t.match(refused, [/^value\.a.*code: Invalid regular expression/, /^value\.b.*code: Invalid regular expression/]);
  },
);

t.test('an annotation of the wrong type, such as a number as title, is an error', async (t) => {
  for (const words of [{ title: 5 }, { description: [] }, { examples: {} }, { deprecated: 'yes' }, { not: 'a' }]) {
    const { build, refused } = open(t);
    build(object({ name: { ...string, ...words } }));
    t.match(refused, [/^value\.name: \w+ must be (string|array|boolean|object or boolean)$/], JSON.stringify(words));
  }
});

t.test(
  'a built service compiles each part of its schema checks when a value first needs the part, or ahead of that',
  async (t) => {
    const schemas = { Node: large({ child: ref('Node'), id: { type: 'integer' } }) };
    const schema = object({ first: ref('Node'), second: large() });
    const called = open(t, { isJudged: false, schemas });
    const check = called.build(schema);
    called.build(object({ other: string }));
    t.equal(called.counted(), 0);
    t.equal(check({}), undefined);
    t.equal(called.counted(), 1, 'parts that the value does not have are not compiled');
    t.match(check({ first: { child: { id: 'x' } } })?.join(), /^first\.child\.id must be of type integer$/);
    t.equal(called.counted(), 2);

    const ahead = open(t, { isJudged: false, schemas });
    const later = ahead.build(schema, { fillsDefaults: true });
    const parts = new Set<number>();
    while (ahead.compileNext()) parts.add(ahead.counted());
    t.strictSame([...parts], [0, 1, 2, 3], 'each step compiles at most one part');
    t.match(later({ first: { child: { id: 'x' } } })?.join(), /^first\.child\.id must be of type integer$/);
    t.equal(ahead.counted(), 3);
  },
);

t.test(
  'the first check of a value compiles only the schemas that the value needs; compileNext() compiles at most one schema',
  async (t) => {
    const schemas = Array.from({ length: 30 }).reduce<Json[]>(
      ([inner, ...others]) => [large({ inner }), inner, ...others],
      [object({ end: string })],
    );
    const rewriteForAjv = buildRewriteForAjv({ fillsDefaults: false, isStrict: false });
    let looked = 0;
    const compiler: Compiler = {
      rewriteForAjv: (...args) => {
        looked += 1;
        return rewriteForAjv(...args);
      },
      compile: () => Object.assign((_value: unknown): _value is unknown => true, { schema: {}, schemaEnv: {} as Json }),
    };
    const functions = new ValidatorCache(compiler, []);
    const [schema] = schemas;
    functions.compile(
      functions.of({ schema, int64s: findInt64s(schema, '', (words) => t.fail(words)), isTried: false }),
    );
    t.equal(looked, 1);
    const steps = [looked];
    while (functions.compileNext()) steps.push(looked);
    t.ok(steps.every((count, index) => count - (steps[index - 1] ?? 1) <= 1));
    t.ok(looked >= 30);
  },
);

t.test('the compiled code of a huge schema is split into functions of limited size', async (t) => {
  const compiled = t.capture(Ajv2020.prototype, 'compile', Ajv2020.prototype.compile);
  const kinds = Array.from({ length: 40 }, (_, index) =>
    object(Object.fromEntries(Array.from({ length: 15 }, (_, field) => [`of${index}field${field}`, string]))),
  );
  const check = buildChecks({ isJudged: true })({ anyOf: kinds }, { name: 'value' }, (words) => t.fail(words));
  const sizes = compiled().map(({ args }) => JSON.stringify(args[0]).length);
  t.ok(Math.max(...sizes) < JSON.stringify(kinds).length / 10, `${sizes}`);
  t.equal(check({ of3field2: 'x' }), undefined);
  t.ok(check(Object.fromEntries(kinds.map((_, index) => [`of${index}field1`, 1]))));
});

t.test('a valid schema that refers to an invalid one is reported at each use', async (t) => {
  const schemas = {
    Bad: large({ code: { ...string, pattern: '(' }, sound: ref('Sound') }),
    Sound: large({ bad: ref('Bad') }),
  };
  const { build, refused } = open(t, { schemas });
  build(object({ a: ref('Bad') }));
  build(object({ b: ref('Sound') }));
  t.match(refused, [/^value\.a.*code: Invalid regular expression/, /^value\.b\.bad: Invalid regular expression/]);
});

t.test('valid schemas that are used together with an invalid one are compiled only once', async (t) => {
  const sound = Array.from({ length: 20 }, (_, index) => [`Sound${index}`, large({ [`own${index}`]: string })]);
  const schemas = {
    Bad: large({ code: { ...string, pattern: '(' }, leader: ref('Leader') }),
    Leader: large({ bad: ref('Bad') }),
    ...Object.fromEntries(sound),
  };
  const { build, refused, counted } = open(t, { schemas });
  const all = Object.fromEntries(Object.keys(schemas).map((name) => [name, ref(name)]));
  build(object(all));
  const before = counted();
  for (const name of ['a', 'b', 'c']) build(object({ ...all, [name]: string }));
  t.ok(counted() - before < 3 * 10, `${counted() - before}`);
  t.equal(refused.length, 4);
  t.equal(build(object({ Sound1: ref('Sound1') }))({ Sound1: { own1: 'a' } }), undefined);
});

t.test('a check whose schema cannot be compiled throws for every value', async (t) => {
  const { build } = open(t, { isJudged: false });
  const check = build(object({ code: { ...string, pattern: '(' } }));
  for (const value of [{ code: 'x' }, {}]) {
    t.throws(() => check(value), { message: /^value\.code: Invalid regular expression/ });
  }
});
