/** The URLs of the operations, made from the contract's paths and parameters. */
import { stringify } from 'lossless-json';
import type { AnyContract, Operation, Parameter } from '../contract/contract.ts';
import { encodePath } from '../contract/path-names.ts';
import { SEPARATORS } from '../requests/joined-items.ts';
import type { UrlOf } from './handler.ts';

/** A path and query, split up at the start: every page of a list needs a URL. */
interface Template {
  /** The texts between the parameters of the path, and their names: `['/v1/items/', '']` and `['itemId']`. */
  texts: string[];
  names: string[];
  /** The parameters of the query. `write` returns `limit=20`, or nothing for an empty array. */
  fields: { name: string; write: (value: unknown) => string }[];
}

export function buildUrlOf({ publicPath, prefix, operations }: AnyContract): UrlOf {
  const templates = new Map(
    [...operations.values()].map((operation) => [operation.id, toTemplate(publicPath + prefix, operation)]),
  );
  return (id, params, query, changes) => {
    const template = templates.get(id) as Template;
    // `query` is undefined in a contract whose paths have no parameters.
    return toPath(template, params as Values) + toSearch(template, query, changes);
  };
}

function toTemplate(prefix: string, { path, parameters }: Operation): Template {
  const fields = parameters.filter((parameter) => parameter.in === 'query');
  return {
    texts: (prefix + encodePath(path)).split(/\{\w+\}/),
    names: path.match(/(?<=\{)\w+(?=\})/g) ?? [],
    fields: fields.map((parameter) => ({ name: parameter.name, write: buildWrite(parameter) })),
  };
}

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

function toPath({ texts, names }: Template, params: Values): string {
  return texts.reduce((url, text, index) => url + encodePart(params[names[index - 1] as string]) + text);
}

/** Written by hand: URLSearchParams takes several times as long. */
function toSearch({ fields }: Template, query: Values = {}, changes: Values = {}): string {
  let search = '';
  for (const { name, write } of fields) {
    const value = changes[name] ?? query[name];
    const text = value === undefined ? '' : write(value);
    if (text !== '') search += (search === '' ? '?' : '&') + text;
  }
  return search;
}

const encodePart = (value: unknown) => (Array.isArray(value) ? value.map(encode).join(',') : encode(value));
const encode = (value: unknown) => encodeURIComponent(String(value));
