/** Generates requests that the contract allows, and writes them as URL, headers or curl command. */
import fc, { type Arbitrary } from 'fast-check';
import { jsonValues } from './json-values.ts';
import { within } from './keywords.ts';
import type { Operation, Parameter } from './operations.ts';
import { isJson, otherBodies, toContentType } from './other-bodies.ts';
import { parameterValues, type Text } from './parameter-values.ts';

/** The parameters of one location in the order of writing: name and text, not yet percent-encoded. */
export type Texts = [name: string, text: Text][];

export interface Request {
  operation: Operation;
  path: Texts;
  query: Texts;
  header: Texts;
  body?: string | Uint8Array | undefined;
  /** Headers besides those of the parameters and the body, or in place of them. */
  headers?: Record<string, string>;
}

/**
 * Generates requests that the server must accept. They lack the parameter `leaveOut`, so that a caller can add an
 * invalid one.
 */
export function requests(operation: Operation, leaveOut?: Parameter): Arbitrary<Request> {
  const parameters = operation.parameters.filter((parameter) => parameter !== leaveOut && !parameter.isOpaque);
  const textsIn = (place: Parameter['in']) => textsOf(parameters.filter((parameter) => parameter.in === place));
  return fc.record({
    operation: fc.constant(operation),
    path: textsIn('path'),
    query: textsIn('query'),
    header: textsIn('header'),
    body: bodies(operation.body),
  });
}

/** Generates the required parameters and some of the optional ones, in any order. */
function textsOf(parameters: Parameter[]): Arbitrary<Texts> {
  const texts = parameters.map((parameter) =>
    within(`${parameter.in}.${parameter.name}`, () => parameterValues(parameter)).map((text): Texts[number] => [
      parameter.name,
      text,
    ]),
  );
  const optional = parameters.filter(({ required }) => !required).map(({ name }) => name);
  return fc.tuple(fc.tuple(...texts), fc.subarray(optional), fc.boolean()).map(([written, chosen, isReversed]) => {
    const kept = written.filter(([name]) => !optional.includes(name) || chosen.includes(name));
    return isReversed ? kept.reverse() : kept;
  });
}

function bodies(body: Operation['body']): Arbitrary<Request['body']> {
  if (!body) return fc.constant(undefined);
  const { schema, maxBytes = Number.POSITIVE_INFINITY, required } = body;
  if (!isJson(body.type)) {
    const others = within('body', () => otherBodies(body)).filter(({ length }) => length <= maxBytes);
    return required ? others : fc.option(others, { nil: undefined });
  }
  const space = fc.constantFrom('', '', ' ', '\r\n\t');
  const texts = fc
    .tuple(
      space,
      within('body', () => jsonValues(schema)),
      space,
    )
    .map((parts) => parts.join(''))
    .filter((text) => Buffer.byteLength(text) <= maxBytes);
  const full = Number.isFinite(maxBytes) ? [texts.map((text) => padTo(text, maxBytes))] : [];
  const given = fc.oneof(
    { withCrossShrink: true },
    { weight: 20, arbitrary: texts },
    ...full.map((arbitrary) => ({ weight: 1, arbitrary })),
  );
  return required ? given : fc.option(given, { nil: undefined });
}

/** Appends white space to a body until it has this many bytes. */
export function padTo<Body extends string | Uint8Array>(body: Body, bytes: number): Body {
  const space = ' '.repeat(Math.max(0, bytes - Buffer.byteLength(body)));
  return (typeof body === 'string' ? body + space : Buffer.concat([body, Buffer.from(space)])) as Body;
}

/** Encodes a text for a URL. Apostrophes are also encoded, so that a shell can quote the URL with them. */
const encode = (text: string) => encodeURIComponent(text).replaceAll("'", '%27');

export function toUrl({ operation, path, query }: Request): string {
  const values = new Map(path as [string, string][]);
  const filled = operation.path.replace(/\{(\w+)\}/g, (_, name) => encode(values.get(name) as string));
  const search = query.map((pair) => toSearch(operation, ...pair)).join('&');
  return search ? `${filled}?${search}` : filled;
}

function toSearch({ parameters }: Operation, name: string, text: Text): string {
  const isJoined = parameters.some((parameter) => parameter.name === name && parameter.list === 'joined');
  const values = [text].flat().map(encode);
  return (isJoined ? [values.join()] : values).map((value) => `${encode(name)}=${value}`).join('&');
}

/** Returns all headers of a request. A repeated header has a list of values. */
export function toHeaders({ operation, header, body, headers }: Request): Record<string, string | string[]> {
  const type = operation.body?.type ?? 'application/json';
  const values: Record<string, string | string[]> = body === undefined ? {} : { 'content-type': toContentType(type) };
  for (const [name, text] of header) {
    const value = [text].flat().join(', ');
    values[name] = name in values ? [values[name] as string, value].flat() : value;
  }
  return { ...values, ...headers };
}

/** Writes a curl command for the default port. It needs a shell with `$'…'` strings, such as bash. */
export function toCurl(request: Request): string {
  const { operation, body } = request;
  return [
    `curl -i --path-as-is -X ${operation.method} 'http://127.0.0.1:3000${toUrl(request)}'`,
    ...Object.entries(toHeaders(request)).flatMap(([name, values]) =>
      [values].flat().map((value) => `-H ${quoteHeader(name, value)}`),
    ),
    ...(body === undefined ? [] : [`--data-binary ${quote(Buffer.from(body))}`]),
  ].join(' ');
}

/** curl sends a header without a value if it is written `Name;`. It would leave out `Name:`. */
const quoteHeader = (name: string, value: string) =>
  quote(Buffer.from(value === '' ? `${name};` : `${name}: ${value}`));

function quote(bytes: Buffer): string {
  const characters = [...bytes].map((byte) => {
    if (byte < 0x20 || byte > 0x7e) return `\\x${byte.toString(16).padStart(2, '0')}`;
    return String.fromCharCode(byte).replace(/['\\]/, '\\$&');
  });
  return `$'${characters.join('')}'`;
}
