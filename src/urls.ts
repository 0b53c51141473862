/** The URLs of the operations, made from the contract's paths. */
import type { Contract } from './contract.ts';
import type { UrlOf } from './handler.ts';

/** What stands between the parameters of a path, and their names: `/v1/pets/{petId}` is `['/v1/pets/', '']`, `['petId']`. */
interface Template {
  texts: string[];
  names: string[];
}

export function buildUrlOf({ prefix, operations }: Contract): UrlOf {
  const templates = new Map([...operations.values()].map(({ id, path }) => [id as string, toTemplate(prefix + path)]));
  return (id, params, query = {}) => {
    const { texts, names } = templates.get(id) as Template;
    const values = params as Record<string, unknown>;
    const path = texts.reduce((url, text, index) => url + encode(values[names[index - 1] as string]) + text);
    return path + toSearch(query);
  };
}

function toTemplate(path: string): Template {
  return { texts: path.split(/\{\w+\}/), names: path.match(/(?<=\{)\w+(?=\})/g) ?? [] };
}

/** By hand: URLSearchParams takes several times as long, and every page of a list needs a URL. */
function toSearch(query: object): string {
  let search = '';
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search += `${search === '' ? '?' : '&'}${encode(name)}=${encode(value)}`;
  }
  return search;
}

const encode = (value: unknown) => encodeURIComponent(String(value));
