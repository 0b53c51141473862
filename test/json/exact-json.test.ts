import fc from 'fast-check';
import { parse } from 'lossless-json';
import t from 'tap';
import { parseExactJson } from '../../src/contract-first/json/exact-json.ts';

t.test('for a JSON text without long numbers, the JSON parser returns the same value as JSON.parse', async () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      fc.pre(!/\d{16}|\de/i.test(text));
      return JSON.stringify(parseExactJson(text)) === JSON.stringify(JSON.parse(text));
    }),
    { seed: 1 },
  );
});

t.test('the JSON parser accepts the same texts as JSON.parse: random, truncated and lengthened ones', async () => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '"\\n"',
    '"\\x"',
    '\\',
    '-',
    '0',
    '1.5',
    '.',
    'e5',
    'true',
    'nul',
    ' ',
    '\n',
    '\t',
  ];
  const mixed = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((some) => some.join(''));
  const edited = fc
    .tuple(fc.json(), fc.nat(), fc.nat({ max: 2 }), fc.constantFrom('', ...pieces))
    .map(([text, place, length, piece]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + piece + text.slice(at + length);
    });
  fc.assert(
    fc.property(fc.oneof(mixed, edited), (text) => isRead(parseExactJson, text) === isRead(JSON.parse, text)),
    { numRuns: 2000, seed: 1 },
  );
});

/**
 * Whether the parser accepts a text. Well-formed JSON with a duplicate name, half a surrogate pair or an inexact number
 * also counts as accepted.
 */
function isRead(read: (text: string) => unknown, text: string): boolean {
  try {
    read(text);
    return true;
  } catch (error) {
    return /twice|half a surrogate|kept exactly/.test((error as Error).message) && isRead(JSON.parse, text);
  }
}

t.test('the JSON parser keeps every digit of a 64-bit integer, even in nested objects', async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      const [{ deep }] = parseExactJson(`[{"deep":${value}}]`) as [{ deep: number | bigint }];
      if (BigInt(deep) !== value) throw new Error(`${value} became ${deep}`);
    }),
    { seed: 1 },
  );
  t.equal(parseExactJson('9007199254740991'), 9007199254740991);
  t.equal(parseExactJson('9007199254740993'), 9007199254740993n);
});

t.test('the JSON parser reads integers written with a fraction or exponent, such as 1.20e2, exactly', async (t) => {
  const cases: [string, number | bigint][] = [
    ['1.0', 1],
    ['1.20e2', 120],
    ['0.5e1', 5],
    ['-0.00', -0],
    ['0e0', 0],
    ['0e-2', 0],
    ['-0e99', -0],
    ['0.00000000000000000000001e23', 1],
    ['1000000000000000000000e-21', 1],
    ['1e18', 1000000000000000000n],
    ['9007199254740993.0', 9007199254740993n],
    ['900719925474099.3E1', 9007199254740993n],
    ['-9.223372036854775808e+18', -9223372036854775808n],
  ];
  for (const [text, value] of cases) t.equal(parseExactJson(text), value, text);
});

t.test('the JSON parser rejects a number that a double would change, and the error names both', async (t) => {
  const inexact: [string, string?][] = [
    ['1.0000000000000001', '1'],
    ['1e-400'],
    ['1e400'],
    ['0.12345678901234567890', '0.12345678901234568'],
    ['999999999999999.99', '1000000000000000'],
    ['18446744073709550592.1', '18446744073709552000'],
    [`${'9'.repeat(40)}.${'0'.repeat(300)}1`, '1e+40'],
    [`1${'0'.repeat(500)}`],
    [`${'9'.repeat(350)}.5`],
  ];
  for (const [text, double] of inexact) {
    const nearest = double === undefined ? '' : `: a double is ${double}`;
    const problem = `has the number ${text}, which cannot be kept exactly${nearest}`;
    t.throws(() => parseExactJson(text), new SyntaxError(problem), text);
  }
});

t.test("the JSON parser's error for a number that a double would change contains its JSON Pointer", async (t) => {
  for (const [text, path] of [
    ['{"a":{"b":[1,2]},"c":[{},1e400,1e500]}', '/c/1'],
    ['1e400', ''],
  ] as const) {
    t.throws(() => parseExactJson(text), { path, message: /^has the number 1e400,/ }, text);
  }
});

t.test('the JSON parser reads a number with a fraction as the double that prints the same digits', async (t) => {
  const cases: [string, number][] = [
    ['1.5', 1.5],
    ['5e-1', 0.5],
    ['0.12345678901234568', 0.12345678901234568],
    ['2251799813685248.5', 2251799813685248.5],
    ['0.100000000000000000000', 0.1],
    ['5e-324', 5e-324],
  ];
  for (const [text, value] of cases) t.equal(parseExactJson(text), value, text);
});

t.test('the JSON parser keeps integers of more than 64 bits, up to the largest double', async (t) => {
  t.equal(parseExactJson('12345678901234567890'), 12345678901234567890n);
  t.equal(parseExactJson('123456789012345678901234567890.000'), 123456789012345678901234567890n);
  t.equal(parseExactJson('1e300'), 10n ** 300n);
  t.equal(parseExactJson('-1.7976931348623157e+308'), -(17976931348623157n * 10n ** 292n));
});

t.test('the JSON parser decodes escapes in strings, and leaves JSON inside strings as text', async (t) => {
  const text = String.raw`{"a\"}":"\\\"{[,:]}\u0041é\ud83d\ude00 12345678901234567890","":[[],{},true,false,null]}`;
  t.strictSame(JSON.parse(JSON.stringify(parseExactJson(text))), JSON.parse(text));
  t.strictSame(parse(JSON.stringify(parseExactJson(text))), parse(text));
});

t.test('the JSON parser rejects a duplicate field in an object, and the error names the field', async (t) => {
  for (const twice of ['b', '\\u0062'])
    t.throws(() => parseExactJson(`{"a":{"b":1,"c":2,"${twice}":1}}`), new SyntaxError('has the field "b" twice'));
  t.doesNotThrow(() => parseExactJson('{"a":{"b":1},"b":1,"toString":2}'));
});

t.test('the JSON parser rejects half a surrogate pair in a string, in values and in field names', async (t) => {
  for (const text of [String.raw`"\ud800"`, String.raw`["a\udc00b"]`, String.raw`{"\udc00\ud800":1}`]) {
    t.throws(() => parseExactJson(text), new SyntaxError('has half a surrogate pair in a string'), text);
  }
  t.equal(parseExactJson(String.raw`"\ud83d\ude00"`), '😀');
});

t.test('the JSON parser reads a field named __proto__ as an ordinary field', async (t) => {
  const value = parseExactJson('{"__proto__":{"polluted":true}}') as object;
  t.strictSame(Object.keys(value), ['__proto__']);
  for (const name of Object.getOwnPropertyNames(Object.prototype)) t.equal(name in value, name === '__proto__', name);
});

t.test('the JSON parser rejects a text that is not JSON or is nested deeper than 64 levels', async (t) => {
  for (const text of ['', '{', '[1,]', '01', 'NaN', "'a'", '"\t"', '{"a":1}x', '\ufeff1']) {
    t.throws(
      () => parseExactJson(text),
      { message: /^is not well-formed JSON( at character \d+|: it ends too early)$/ },
      text,
    );
  }
  t.throws(() => parseExactJson('['.repeat(100) + ']'.repeat(100)), /nested deeper than 64 levels/);
});
