/**
 * Generates requests that break one rule of the contract each, with the status and the position that the reply must
 * contain.
 */
import fc, { type Arbitrary } from 'fast-check';
import { type Broken, breaksOf, unknownNames } from './json-breaks.ts';
import { type Field, fieldsOf, jsonValues, toObject } from './json-values.ts';
import { within } from './keywords.ts';
import type { Json, Operation, Parameter } from './operations.ts';
import { isJson, otherBodies, otherBreaks } from './other-bodies.ts';
import { parameterBreaks, parameterValues } from './parameter-values.ts';
import { padTo, type Request, requests, type Texts } from './requests.ts';
import { SURROGATE } from './strings.ts';

interface Refused {
  request: Request;
  status: number;
  /** The position that the message of the reply must name, such as `query.limit`. */
  place: string;
}

export interface Refusal {
  /** The position and the broken rule, such as `query.limit maximum`. */
  rule: string;
  requests: Arbitrary<Refused>;
}

/**
 * Returns a refusal for every rule of this operation.
 * @throws Error that names a rule which no generator can break yet
 */
export function refusalsOf(operation: Operation): Refusal[] {
  return within(operation.id, () => [
    ...operation.parameters.flatMap((parameter) => refuseParameter(operation, parameter)),
    refuseUnknownParameter(operation),
    ...bodyRefusalsOf(operation),
  ]);
}

function refuseParameter(operation: Operation, parameter: Parameter): Refusal[] {
  const { name, in: place, required, list, isOpaque } = parameter;
  const others = requests(operation, parameter);
  const refuse = (rule: string, added: Arbitrary<{ texts: Texts; place?: string }>): Refusal => ({
    rule: `${place}.${name} ${rule}`,
    requests: fc.tuple(others, added, fc.nat()).map(([request, { texts, place: item = '' }, at]) => ({
      request: { ...request, [place]: insert(request[place], at, ...texts) },
      status: 400,
      place: `${place}.${name}${item}`,
    })),
  });
  const refusals = within(`${place}.${name}`, () => parameterBreaks(parameter)).map(({ rule, values }) =>
    refuse(
      rule,
      values.map(({ text, place }) => ({ texts: [[name, text]], place })),
    ),
  );
  if (place === 'path') return refusals;
  const values = isOpaque ? fc.constant('x') : parameterValues(parameter);
  // A parameter may not be repeated, unless it is an array whose items are written as separate parameters or header
  // lines.
  if (!list || (place === 'query' && list === 'joined')) {
    refusals.push(
      refuse(
        'repeated',
        fc.tuple(values, values).map((texts) => ({ texts: texts.map((text) => [name, text]) })),
      ),
    );
  }
  if (required) refusals.push(refuse('required', fc.constant({ texts: [] })));
  return refusals;
}

function refuseUnknownParameter(operation: Operation): Refusal {
  const known = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const texts = fc.constantFrom('', '1', 'x', 'true');
  return {
    rule: 'query unknown parameter',
    requests: fc.tuple(requests(operation), unknownNames(known), texts, fc.nat()).map(([request, name, text, at]) => ({
      request: { ...request, query: insert(request.query, at, [name, text]) },
      status: 400,
      place: `query.${name}`,
    })),
  };
}

function insert<T>(items: T[], seed: number, ...added: T[]): T[] {
  return items.toSpliced(seed % (items.length + 1), 0, ...added);
}

/**
 * The changed parts of a valid request. `place` is the position that the message names, if it is not the whole body.
 */
type Change = Pick<Request, 'body' | 'headers'> & { place?: string };

const OTHER_TYPES = [
  ...['', 'json', 'text/plain', 'application/xml', 'application/jsonp', 'application/vnd.pets+json'],
  'application/x-www-form-urlencoded',
];

/**
 * Generates bodies that the server must reject: they break the schema, are not JSON, are too large, or have a wrong
 * media type.
 */
function bodyRefusalsOf(operation: Operation): Refusal[] {
  if (!operation.body) return [];
  const { required, maxBytes = Number.POSITIVE_INFINITY, schema, type } = operation.body;

  function refuse(rule: string, changes: Arbitrary<Change>, status = 400): Refusal {
    // If a body is too large, the server reports only that, so other mistakes need bodies within the limit.
    const fits = ({ body = '' }: Change) => status === 413 || Buffer.byteLength(body) <= maxBytes;
    const refused = fc
      .tuple(requests(operation), changes.filter(fits))
      .map(([request, { place = 'body', ...change }]): Refused => {
        return { request: { ...request, ...change }, status, place };
      });
    return { rule: `body${rule.startsWith('.') ? '' : ' '}${rule}`, requests: refused };
  }

  const otherTypes = OTHER_TYPES.filter((other) => other !== type);
  const ofAll = (bodies: Arbitrary<string | Uint8Array>) => [
    refuse('other type', withHeader(bodies, 'content-type', otherTypes), 415),
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
  const toChange = ({ text, place }: Broken): Change => ({ body: text, place: `body${place}` });
  const refusals = within('body', () => breaksOf(schema)).map(({ rule, values }) => refuse(rule, values.map(toChange)));
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

/** Generates malformed JSON: with a part missing, or with something inserted. */
function malformed(texts: Arbitrary<string>): Arbitrary<Change> {
  const mistakes = [...', : { } [ " \' \\ 0 . NaN undefined'.split(' '), '', '\u0001', '\ufeff', '// ', '\u00a0'];
  return fc
    .tuple(texts, fc.nat(), fc.nat(8), fc.constantFrom(...mistakes))
    .map(([text, seed, length, mistake]) => {
      const at = seed % (text.length + 1);
      return { body: text.slice(0, at) + mistake + text.slice(at + length) };
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

/** Generates bytes that are not UTF-8: an invalid byte, half a surrogate pair, or a truncated character (RFC 3629). */
function notUtf8(texts: Arbitrary<string>): Arbitrary<Change> {
  const wrong = ['ff', 'c0af', 'eda080', 'f4908080', 'e282', '80'];
  return fc.tuple(texts, fc.nat(), fc.constantFrom(...wrong)).map(([text, seed, hex]) => {
    const at = seed % text.length;
    return {
      body: Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(hex, 'hex'), Buffer.from(text.slice(at))]),
    };
  });
}

/** Adds a string with an escaped half surrogate pair next to the value (RFC 8259, section 8.2). */
function withSurrogate(texts: Arbitrary<string>): Arbitrary<Change> {
  return fc.tuple(texts, SURROGATE).map(([text, unit]) => ({ body: `[${JSON.stringify(unit)},${text}]` }));
}

function withHeader(texts: Arbitrary<string | Uint8Array>, name: string, values: string[]): Arbitrary<Change> {
  return fc.tuple(texts, fc.constantFrom(...values)).map(([body, value]) => ({ body, headers: { [name]: value } }));
}

/**
 * Generates JSON that contains a field twice, in the same or different spelling. RFC 8259, section 4, leaves its
 * meaning open.
 */
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
