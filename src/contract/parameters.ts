/** The parameters of an operation, and whether they fit its path. */
import type { Json, Parameter, Refuse } from './contract.ts';
import { findInt64s } from './int64-places.ts';

const PLACES = ['path', 'query', 'header'];
const TYPES = ['string', 'integer', 'number', 'boolean'];
/** Headers that OpenAPI says to ignore as parameters (OpenAPI 3.1, section 4.8.12.1): other parts of the contract speak of them. */
const IGNORED = ['accept', 'content-type', 'authorization'];

/** `sources` has those of the path item first: an operation's parameter overrides the one of the same name and place. */
export function toParameters(path: string, sources: Json[], refuse: Refuse): Parameter[] {
  const byName = new Map<string, Parameter>();
  for (const { name, in: place, required = false, schema, 'x-opaque': isOpaque = false } of sources) {
    if (!PLACES.includes(place)) refuse(`parameter ${name}: in ${place} is not supported`);
    // The names of headers are the same in any case (RFC 9110, section 5.1).
    const key = place === 'header' ? name.toLowerCase() : name;
    if (place === 'header' && IGNORED.includes(key))
      refuse(`parameter ${name}: OpenAPI ignores it in header; remove it`);
    if (!TYPES.includes(schema?.type)) refuse(`parameter ${name}: needs a schema of one simple type`);
    const int64s = findInt64s(schema ?? true, `parameter ${name}`, refuse);
    byName.set(`${place} ${key}`, { name, in: place, required, schema, int64s, isOpaque });
  }
  const parameters = [...byName.values()];
  checkPath(path, parameters, refuse);
  return parameters;
}

function checkPath(path: string, parameters: Parameter[], refuse: Refuse): void {
  const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name as string);
  for (const name of inPath) {
    if (!/^\w+$/.test(name)) refuse(`path parameter {${name}} may have letters, digits and _ only`);
    if (!declared.includes(name)) refuse(`path parameter {${name}} is not declared`);
  }
  for (const name of declared) {
    if (!inPath.includes(name)) refuse(`parameter ${name} is not in the path`);
  }
}
