/**
 * Writes an operation's request as a curl command. The page's script rewrites it for other servers, keys and languages.
 */
import { stringify } from 'lossless-json';
import {
  type Content,
  type KeyLocation,
  type Operation,
  type Parameter,
  SEPARATORS,
} from '../../engine/contract/contract.ts';
import { isKey, type MediaNode, type ParameterNode } from '../../engine/contract/document.ts';
import { type FirstRequest, KEY_PLACEHOLDER, UUID_PLACEHOLDER } from '../../engine/contract/first-request.ts';
import { encodePath, toRouterName } from '../../engine/contract/path-names.ts';
import { toServedType } from '../../engine/contract/replies.ts';
import { type Html, html } from '../../engine/docs/html.ts';
import { isMap, isNode } from '../../engine/schema/json.ts';
import { toShellWord } from '../../json/literals.ts';
import { toContent, toText } from './prose.ts';
import type { Samples } from './sample.ts';
import type { DocumentSource } from './source.ts';

/** The contract, and the samples of its values. */
interface RequestValues extends DocumentSource, Samples {}

/** The contract, samples of its values, and placeholders for values that are known only when the server starts. */
export interface SampleValues extends RequestValues {
  /** Renders a placeholder, such as `base`, that the server fills in at its start. */
  blank: (name: string) => Html;
}

const encode = (value: unknown) => encodeURIComponent(toText(value).toWellFormed());

/** Returns a query parameter as `name=value`, encoded in its style, or as several such pairs in some styles. */
function toPairs({ name, writing }: Pick<Parameter, 'name' | 'writing'>, value: unknown): string[] {
  const own = encode(name);
  if (writing === 'json' && isNode(value)) return [`${own}=${encode(stringify(value))}`];
  if (Array.isArray(value)) {
    if (writing === 'repeated') return value.map((item) => `${own}=${encode(item)}`);
    return [`${own}=${value.map(encode).join(SEPARATORS[writing]?.sent)}`];
  }
  if (!isMap(value)) return [`${own}=${encode(value)}`];
  return Object.entries(value).map(([field, one]) =>
    writing === 'deep' ? `${own}[${encode(field)}]=${encode(one)}` : `${encode(field)}=${encode(one)}`,
  );
}

/** The request of an operation, with a sample of each value. */
interface SampleRequest {
  /** The path after the prefix and the query, without keys: `/things?limit=20`. */
  url: string;
  /** The names and values of the headers, without keys. */
  headers: [name: string, value: string][];
  /** The body; undefined for an operation without a body. */
  body: { content: Content; media: MediaNode } | undefined;
}

/** Makes the sample request of an operation, without the query parameter `without`. */
export function toSampleRequest(values: RequestValues, operation: Operation, without?: string): SampleRequest {
  const { path, body, parameters } = operation;
  const nodes = values.nodesOf(operation);
  const once = parameters.find(isKey);
  const given = parameters.flatMap((parameter) => {
    const isSame = (one: ParameterNode) =>
      toRouterName(one.name) === toRouterName(parameter.name) && one.in === parameter.in;
    const { content, ...own } = nodes.parameters.find(isSame) as ParameterNode;
    const media = content ? (Object.values(content)[0] as MediaNode) : own;
    const isWritten = media.example !== undefined || Object.keys(media.examples ?? {}).length > 0;
    if ((!parameter.required && !isWritten) || parameter.name === without) return [];
    const [sample] = values.ofMedia(media, 'readOnly');
    return [{ ...parameter, value: sample?.value ?? `<${parameter.name}>` }];
  });
  const query = given.filter((one) => one.in === 'query').flatMap((one) => toPairs(one, one.value));
  const filled = encodePath(path).replace(/\{(\w+)\}/g, (_, name) => {
    const one = given.find((parameter) => parameter.in === 'path' && parameter.name === name);
    return [one?.value].flat().map(encode).join(',');
  });
  const headers = given
    .filter((one) => one.in === 'header' && one.name !== once?.name)
    .map(({ name, value }): [string, string] => [name, [value].flat().map(toText).join(',')]);
  const content = body?.contents[0];
  const media = content && findMedia(values.follow(nodes.source.requestBody)?.content, content.type);
  return {
    url: filled + (query.length > 0 ? `?${query.join('&')}` : ''),
    headers: once ? [[once.name, UUID_PLACEHOLDER], ...headers] : headers,
    body: content && media && { content, media },
  };
}

/**
 * Returns the options and the URL of a curl command, with a placeholder for the key. The URL begins after the prefix.
 */
export function toCurlWords(values: RequestValues, operation: Operation, without?: string): FirstRequest {
  const { method, security } = operation;
  const { url, headers, body } = toSampleRequest(values, operation, without);
  const keys = security[0] ? [security[0], ...security[0].alsoNeeded].map(({ location }) => location) : [];
  const inQuery = keys
    .filter((location) => location.in === 'query')
    .map(({ name }) => `${encode(name)}=${KEY_PLACEHOLDER}`);
  const options = [
    toMethodOption(method, body !== undefined),
    ...keys.map(toKeyOption),
    ...headers.map(([name, value]) => `-H ${toShellWord(`${name}: ${value}`.replace(/\p{Cc}/gu, ' '))}`),
    ...(body ? toBodyOptions(body.content, body.media, values) : []),
  ].filter((option) => option !== undefined);
  const [start, ...search] = url.split('?');
  const query = [...search, ...inQuery].join('&');
  return { options, url: query ? `${start}?${query}` : url };
}

/** Renders the curl command of an operation. `flags` replaces the option `-i`. */
export function sampleCurl(values: SampleValues, operation: Operation, flags = '-i', without?: string): Html {
  const { options, url } = toCurlWords(values, operation, without);
  const start = ['curl', ...options, ''].join(' \\\n  ').replace(' \\\n  ', ' ').replace('-i', flags);
  return html`${toContent(start)}${toUrlWord(values, url)}`;
}

/** Renders the complete URL as a quoted word of a shell. */
export const toUrlWord = ({ blank }: SampleValues, url: string): Html =>
  html`'${blank('base')}${toContent(toShellWord(url).slice(1))}`;

const findMedia = (content: Record<string, MediaNode> = {}, type: string): MediaNode | undefined =>
  Object.entries(content).find(([name]) => toServedType(name) === type)?.[1];

/**
 * Returns curl's option for the method. With a body, curl uses POST by default. With `-X HEAD`, it would wait for a
 * body.
 */
function toMethodOption(method: string, hasBody: boolean): string {
  if (method === 'HEAD') return '--head';
  return method === (hasBody ? 'POST' : 'GET') ? '-i' : `-i -X ${method}`;
}

function toKeyOption({ in: location, name }: KeyLocation): string | undefined {
  if (location === 'basic') return `-u ${toShellWord(`${KEY_PLACEHOLDER}:`)}`;
  const header = {
    bearer: `Authorization: Bearer ${KEY_PLACEHOLDER}`,
    header: `${name}: ${KEY_PLACEHOLDER}`,
    cookie: `Cookie: ${name}=${KEY_PLACEHOLDER}`,
  };
  return location === 'query' ? undefined : `-H ${toShellWord(header[location])}`;
}

/** The maximum number of characters of a JSON body on one line. A longer body is indented. */
const ONE_LINE = 80;

function toBodyOptions({ type, kind }: Content, media: MediaNode, { flat, ofMedia }: RequestValues): string[] {
  const header = `-H ${toShellWord(`Content-Type: ${type}`)}`;
  const value = ofMedia(media, 'readOnly')[0]?.value;
  if (kind === 'json') {
    const short = stringify(value ?? {}) as string;
    return [header, `-d ${toShellWord(short.length > ONE_LINE ? (stringify(value, null, 2) as string) : short)}`];
  }
  if (kind === 'bytes' || !isMap(value)) return [header, "--data-binary '@file'"];
  const fields = Object.entries(value).flatMap(([name, one]) => [one].flat().map((item) => [name, item] as const));
  const isFile = (name: string) => flat(flat(media.schema).properties?.[name]).format === 'binary';
  const [option, fileOption] =
    type === 'multipart/form-data' ? ['--form-string', '-F'] : ['--data-urlencode', '--data-urlencode'];
  return fields.map(([name, one]) =>
    isFile(name)
      ? `${fileOption} ${toShellWord(`${name}=@file`)}`
      : `${option} ${toShellWord(`${name}=${toText(one)}`.replaceAll('\0', ''))}`,
  );
}
