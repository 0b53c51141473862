/** Requests that break one rule of the contract each: what the server must answer, and the place that it must name. */
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
  /** Named in the message of the reply: `query.limit`. */
  place: string;
}

export interface Refusal {
  /** The place and the rule: `query.limit maximum`. */
  rule: string;
  requests: Arbitrary<Refused>;
}

/** Makes a refusal for every rule of the contract for this operation. @throws Error that names a rule for which there is no way yet */
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
  // Where an array is given item by item, or line by line, that is how it is written.
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

/** The difference from an accepted request, and the location that the message names, if not the whole body. */
type Change = Pick<Request, 'body' | 'headers'> & { place?: string };

const OTHER_TYPES = [
  ...['', 'json', 'text/plain', 'application/xml', 'application/jsonp', 'application/vnd.pets+json'],
  'application/x-www-form-urlencoded',
];

/** Bodies that the server refuses: they break the schema, are not JSON, are too large, or have the wrong media type. */
function bodyRefusalsOf(operation: Operation): Refusal[] {
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

/** JSON that is broken: a piece is missing, or something was inserted. */
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

/** Makes JSON with a field twice, spelt alike or not. RFC 8259, section 4, leaves the meaning open. */
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
