/** Requests whose body breaks one rule: of its schema, of JSON, of its size or of its type. */
import fc, { type Arbitrary } from 'fast-check';
import { breaksOf } from './json-breaks.ts';
import { type Field, fieldsOf, jsonValues, toObject } from './json-values.ts';
import { within } from './keywords.ts';
import type { Json, Operation } from './operations.ts';
import { isJson, otherBodies, otherBreaks } from './other-bodies.ts';
import type { Refusal, Refused } from './refusals.ts';
import { padTo, type Request, requests } from './requests.ts';
import { SURROGATE } from './strings.ts';

/** What differs from an accepted request, and the place that the message names, if not the whole body. */
type Change = Pick<Request, 'body' | 'headers'> & { place?: string };

const OTHER_TYPES = [
  ...['', 'json', 'text/plain', 'application/xml', 'application/jsonp', 'application/vnd.pets+json'],
  'application/x-www-form-urlencoded',
];

export function bodyRefusalsOf(operation: Operation): Refusal[] {
  if (!operation.body) return [];
  const { required, maxBytes = Number.POSITIVE_INFINITY, schema, type } = operation.body;

  function refuse(rule: string, changes: Arbitrary<Change>, status = 400): Refusal {
    // A body that is too large is refused for that, even if something else is wrong, too.
    const fits = ({ body = '' }: Change) => status === 413 || Buffer.byteLength(body) <= maxBytes;
    const refused = fc
      .tuple(requests(operation), changes.filter(fits))
      .map(([request, { place = 'body', ...change }]): Refused => {
        return { request: { ...request, ...change }, status, place };
      });
    return { rule: `body${rule.startsWith('.') ? '' : ' '}${rule}`, requests: refused };
  }

  const ofAll = (bodies: Arbitrary<string | Uint8Array>) => [
    refuse(
      'other type',
      withHeader(
        bodies,
        'content-type',
        OTHER_TYPES.filter((other) => other !== type),
      ),
      415,
    ),
    refuse('compressed', withHeader(bodies, 'content-encoding', ['gzip', 'br', 'deflate']), 415),
    ...(Number.isFinite(maxBytes) ? [refuse('x-max-bytes', longerThan(maxBytes, bodies), 413)] : []),
  ];
  if (!isJson(type)) {
    const { body } = operation;
    const broken = within('body', () => otherBreaks(body)).map(({ rule, values }) => refuse(rule, values));
    const missing = required ? [refuse('required', fc.constant({ body: undefined }))] : [];
    return [...broken, ...ofAll(otherBodies(body)), ...missing];
  }

  const texts = within('body', () => jsonValues(schema));
  const refusals = within('body', () => breaksOf(schema)).map(({ rule, values }) =>
    refuse(
      rule,
      values.map(({ text, place }) => ({ body: text, place: `body${place}` })),
    ),
  );
  refusals.push(
    refuse('malformed JSON', malformed(texts)),
    refuse('not UTF-8', notUtf8(texts)),
    refuse('half a surrogate pair', withSurrogate(texts)),
    refuse(
      'nested too deeply',
      fc.integer({ min: 66, max: 4000 }).map((depth) => ({ body: '['.repeat(depth) + ']'.repeat(depth) })),
    ),
    ...ofAll(texts),
  );
  if (schema.properties) refusals.push(refuse('a field twice', withFieldTwice(schema)));
  if (required) refusals.push(refuse('required', fc.constantFrom<Change>({ body: undefined }, { body: '' })));
  return refusals;
}

/** JSON that is broken: a piece is missing, or something was inserted. */
function malformed(texts: Arbitrary<string>): Arbitrary<Change> {
  const slips = [
    '',
    ',',
    ':',
    '{',
    '}',
    '[',
    '"',
    "'",
    '\\',
    '0',
    '.',
    '\u0001',
    '\ufeff',
    'NaN',
    '// ',
    'undefined',
    '\u00a0',
  ];
  return fc
    .tuple(texts, fc.nat(), fc.nat(8), fc.constantFrom(...slips))
    .map(([text, seed, length, slip]) => {
      const at = seed % (text.length + 1);
      return { body: text.slice(0, at) + slip + text.slice(at + length) };
    })
    .filter(({ body }) => body !== '' && !isWellFormed(body) && !/\p{Cs}/u.test(body));
}

function isWellFormed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A byte that is never in UTF-8 text, half a surrogate pair, or a character that is cut short (RFC 3629). */
function notUtf8(texts: Arbitrary<string>): Arbitrary<Change> {
  const wrong = ['ff', 'c0af', 'eda080', 'f4908080', 'e282', '80'];
  return fc.tuple(texts, fc.nat(), fc.constantFrom(...wrong)).map(([text, seed, hex]) => {
    const at = seed % text.length;
    return {
      body: Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(hex, 'hex'), Buffer.from(text.slice(at))]),
    };
  });
}

/** An escape that stands for half a character, in a string beside the value (RFC 8259, section 8.2). */
function withSurrogate(texts: Arbitrary<string>): Arbitrary<Change> {
  return fc.tuple(texts, SURROGATE).map(([text, unit]) => ({ body: `[${JSON.stringify(unit)},${text}]` }));
}

function withHeader(texts: Arbitrary<string | Uint8Array>, name: string, values: string[]): Arbitrary<Change> {
  return fc.tuple(texts, fc.constantFrom(...values)).map(([body, value]) => ({ body, headers: { [name]: value } }));
}

/** Its meaning is left open (RFC 8259, section 4), whether the two are spelt alike or not. */
function withFieldTwice(schema: Json): Arbitrary<Change> {
  const names = Object.keys(schema.properties);
  const fields = fc.constantFrom(...names).chain((name) => {
    const field = jsonValues(schema.properties[name]).map((text): Field => [name, text]);
    return fc.tuple(fieldsOf(schema, [name]), field, field);
  });
  return fields.map(([others, first, second]) => ({
    body: toObject([first, ...others, second]),
    place: JSON.stringify(first[0]),
  }));
}

function longerThan(maxBytes: number, texts: Arbitrary<string | Uint8Array>): Arbitrary<Change> {
  const surplus = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5000 }));
  return fc.tuple(texts, surplus).map(([text, bytes]) => ({ body: padTo(text, maxBytes + bytes) }));
}
