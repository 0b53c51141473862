/** Refuses schemas whose keywords are of a wrong kind, before other code reads them: a text for a schema, an object for a list. */
import { isMap, type Keywords, type Refuse } from '../../engine/schema/json.ts';
import { ONE, targetOf } from '../../engine/schema/subschemas.ts';

const isList = Array.isArray;
const isSchema = (value: unknown) => typeof value === 'boolean' || isMap(value);
const isTexts = (value: unknown) => isList(value) && value.every((one) => typeof one === 'string');

interface Shape {
  keywords: string[];
  fits: (value: unknown) => boolean;
  words: string;
  /** The schemas in a value that fits, each with what its place has more. */
  within?: (value: never) => [more: string, schema: unknown][];
}

/** The keywords that code reads as lists or objects. ajv checks all others. */
const SHAPES: Shape[] = [
  {
    keywords: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
    fits: isList,
    words: 'a list of schemas',
    within: (list: unknown[]) => list.map((one) => ['', one]),
  },
  {
    keywords: ['properties', 'patternProperties', 'dependentSchemas'],
    fits: isMap,
    words: 'schemas by their names',
    within: (map: object) => Object.entries(map).map(([name, one]) => [`.${name}`, one]),
  },
  {
    keywords: ['items'],
    fits: isSchema,
    words: 'a schema, or true or false',
    within: (one: unknown) => [['.items', one]],
  },
  {
    keywords: [...ONE, 'propertyNames', 'additionalItems'],
    fits: isSchema,
    words: 'a schema, or true or false',
    within: (one: unknown) => [['', one]],
  },
  {
    keywords: ['type'],
    fits: (value) => typeof value === 'string' || isTexts(value),
    words: 'a type, such as string, or a list of types',
  },
  { keywords: ['required'], fits: isTexts, words: 'a list of names' },
  { keywords: ['enum'], fits: isList, words: 'a list of values' },
];

/** Schemas without a fault. */
const sound = new WeakSet<object>();

/** Returns whether it has none. */
export function checkKeywordTypes(root: unknown, name: string, refuse: Refuse): boolean {
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
      const shape = SHAPES.find(({ keywords }) => keywords.includes(keyword));
      if (value === undefined || !shape) continue;
      if (!shape.fits(value)) fail(`${place}: ${keyword} must be ${shape.words}`);
      else for (const [more, one] of shape.within?.(value as never) ?? []) visit(one, place + more);
    }
  }

  function fail(problem: string): void {
    isSound = false;
    refuse(problem);
  }
}
