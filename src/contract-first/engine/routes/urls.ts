/** Makes the URLs of operations from the contract's paths and parameters. */
import type { FastifyRequest } from 'fastify';
import { stringify } from 'lossless-json';
import { type AnyContract, type Operation, type Parameter, SEPARATORS } from '../contract/contract.ts';
import { encodePath } from '../contract/path-names.ts';
import { stateOf } from '../request-state.ts';
import type { Accepted } from '../requests/request-checks.ts';
import type { UrlOf } from './handler.ts';
import type { OperationId } from './read-write-only.ts';

/**
 * Writes the URL of an operation. The path of the operation is split into its texts at the start, and not for each URL,
 * because every page of a list needs a URL.
 */
type Template = (params: Values, query?: Values, changes?: Values) => string;

export function buildUrlOf({ publicPath, prefix, operations }: AnyContract): UrlOf {
  const templates = new Map(
    [...operations.values()].map((operation) => [operation.id, toTemplate(publicPath + prefix, operation)]),
  );
  return (id, params, query, changes) => (templates.get(id) as Template)(params as Values, query, changes);
}

/**
 * Builds the function that writes the URLs of an operation. The function writes the query without URLSearchParams,
 * which would take several times as long.
 */
function toTemplate(prefix: string, { path, parameters }: Operation): Template {
  const [start, ...texts] = (prefix + encodePath(path)).split(/\{\w+\}/) as [string, ...string[]];
  const names = path.match(/(?<=\{)\w+(?=\})/g) ?? [];
  const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
  const fields = ofQuery.map((parameter) => ({ name: parameter.name, write: buildWrite(parameter) }));
  return (params, query = {}, changes = {}) => {
    let url = start;
    for (let index = 0; index < names.length; index++) url += encodePart(params[names[index] as string]) + texts[index];
    let mark = '?';
    for (const { name, write } of fields) {
      const value = changes[name] ?? query[name];
      // A value is omitted if `write` returns the empty text, as for an empty array.
      const text = value === undefined ? '' : write(value);
      if (text === '') continue;
      url += mark + text;
      mark = '&';
    }
    return url;
  };
}

/** Builds the function that writes a query parameter, such as `limit=20`. */
function buildWrite({ name, writing }: Parameter): (value: unknown) => string {
  const label = `${encode(name)}=`;
  if (writing === 'text') return (value) => label + encode(value);
  if (writing === 'json') return (value) => label + encode(stringify(value));
  if (writing === 'deep') return (value) => writeFields(value as Values, (field) => `${name}[${field}]`);
  if (writing === 'fields') return (value) => writeFields(value as Values, (field) => field);
  const separator = SEPARATORS[writing]?.sent ?? `&${label}`;
  return (value) => {
    const items = [value].flat().map(encode);
    return items.length > 0 ? label + items.join(separator) : '';
  };
}

type Values = Record<string, unknown>;

function writeFields(value: Values, toName: (field: string) => string): string {
  const pairs = Object.entries(value).flatMap(([field, inside]) =>
    [inside].flat().map((item) => `${encode(toName(field))}=${encode(item)}`),
  );
  return pairs.join('&');
}

const encodePart = (value: unknown) => (Array.isArray(value) ? value.map(encode).join(',') : encode(value));
const encode = (value: unknown) => encodeURIComponent(String(value));

/** Makes the `Link` to the page at the given cursor. The build has checked that such a link fits the contract. */
type ToNextLink = (request: FastifyRequest, cursor: string) => string;

export function buildToNextLink({ id, parameters }: Operation, urlOf: UrlOf): ToNextLink {
  const name = parameters.find(({ in: location, isOpaque }) => isOpaque && location === 'query')?.name;
  return (request, cursor) => {
    if (name === undefined) throw new Error(`${id} has answered a next page, and has no query parameter with x-opaque`);
    const { path, query } = stateOf(request).checked as Accepted;
    return `<${urlOf(id as OperationId, path as never, query as never, { [name]: cursor } as never)}>; rel="next"`;
  };
}
