/** Refuses schemas whose keywords are of a wrong kind, before other code reads them: a text for a schema, an object for a list. */
import { isNode, type Keywords, type Refuse } from './json.ts';
import { targetOf } from './recursion.ts';

const isList = Array.isArray;
const isMap = (value: unknown): value is Record<string, unknown> => isNode(value) && !isList(value);
const isSchema = (value: unknown) => typeof value === 'boolean' || isMap(value);
const isTexts = (value: unknown) => isList(value) && value.every((one) => typeof one === 'string');

/** The keywords that code reads as lists or objects. ajv checks all others. */
const SHAPES: [keyword: RegExp, fits: (value: unknown) => boolean, words: string][] = [
  [/^(allOf|anyOf|oneOf|prefixItems)$/, isList, 'a list of schemas'],
  [/^(properties|patternProperties|dependentSchemas)$/, isMap, 'schemas by their names'],
  [
    /^(items|not|if|then|else|contains|propertyNames|(additional|unevaluated)(Properties|Items))$/,
    isSchema,
    'a schema, or true or false',
  ],
  [/^type$/, (value) => typeof value === 'string' || isTexts(value), 'a type, such as string, or a list of types'],
  [/^required$/, isTexts, 'a list of names'],
  [/^enum$/, isList, 'a list of values'],
];

/** Schemas without a fault. */
const sound = new WeakSet<object>();

/** Returns whether it has none. */
export function checkShapes(root: unknown, name: string, refuse: Refuse): boolean {
  const seen = new Set<object>();
  let isSound = true;
  visit(root, name);
  if (isSound) for (const one of seen) sound.add(one);
  return isSound;

  function visit(schema: unknown, place: string): void {
    if (!isSchema(schema)) fail(`${place}: must be a schema, or true or false`);
    if (!isMap(schema) || seen.has(schema) || sound.has(schema)) return;
    seen.add(schema);
    const target = targetOf(schema as Keywords);
    if (target) visit(target, place);
    for (const [keyword, value] of Object.entries(schema)) {
      const [, fits, words] = SHAPES.find(([known]) => known.test(keyword)) ?? [];
      if (value === undefined || !fits) continue;
      if (!fits(value)) fail(`${place}: ${keyword} must be ${words}`);
      else if (words === 'a list of schemas') for (const one of value as unknown[]) visit(one, place);
      else if (words === 'schemas by their names')
        for (const [key, one] of Object.entries(value as object)) visit(one, `${place}.${key}`);
      else if (isSchema(value)) visit(value, keyword === 'items' ? `${place}.items` : place);
    }
  }

  function fail(problem: string): void {
    isSound = false;
    refuse(problem);
  }
}
