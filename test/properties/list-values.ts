/** Arrays in parameters, as the texts of their items: allowed ones, and such that break one rule of their schema. */
import fc, { type Arbitrary } from 'fast-check';
import { isAnnotation, noWayToBreak } from './keywords.ts';
import type { Json, Parameter } from './operations.ts';

/** What is known of one item. */
export interface Items {
  values: Arbitrary<string>;
  breaks: { rule: string; texts: Arbitrary<string> }[];
}

export interface ListBreak {
  rule: string;
  values: Arbitrary<{ text: string[]; place: string }>;
}

/** An empty one cannot be written: it is the same as none. */
export function listValues(
  { schema, in: place }: Parameter,
  { values }: Items,
  limits: Json = {},
): Arbitrary<string[]> {
  const { minItems = 1, maxItems = minItems + 5, uniqueItems }: Json = { ...schema, ...limits };
  const lengths = { minLength: Math.max(1, minItems), maxLength: maxItems };
  const items = values.filter(inList(place));
  return uniqueItems ? fc.uniqueArray(items, lengths) : fc.array(items, lengths);
}

/** One break for each rule. @throws Error that names a keyword for which there is no way yet */
export function listBreaks(parameter: Parameter, items: Items): ListBreak[] {
  const { schema } = parameter;
  const broken = (texts: Arbitrary<string[]>) => texts.map((text) => ({ text, place: '' }));
  const breakers: Record<string, () => ListBreak[]> = {
    type: () => [],
    items: () => {
      const canBreak = ({ rule }: { rule: string }) => parameter.in !== 'header' || rule !== 'empty value';
      return items.breaks.filter(canBreak).map((inner) => breakItem(parameter, items, inner));
    },
    minItems: () => {
      const maxItems = schema.minItems - 1;
      const values = () => broken(listValues(parameter, items, { minItems: 1, maxItems }));
      return maxItems > 0 ? [{ rule: 'minItems', values: values() }] : [];
    },
    maxItems: () => {
      const minItems = schema.maxItems + 1;
      return [{ rule: 'maxItems', values: broken(listValues(parameter, items, { minItems, maxItems: minItems + 2 })) }];
    },
    uniqueItems: () => {
      const repeated = listValues(parameter, items, { minItems: Math.max(1, (schema.minItems ?? 0) - 1) });
      return [{ rule: 'uniqueItems', values: broken(repeated.map((texts) => [...texts, texts[0] as string])) }];
    },
  };
  return Object.keys(schema)
    .filter((keyword) => !isAnnotation(keyword))
    .flatMap((keyword) => {
      const breaker = breakers[keyword];
      if (!breaker) throw noWayToBreak(`${keyword} of an array in a parameter`, 'list-values.ts');
      return breaker();
    });
}

function breakItem(parameter: Parameter, items: Items, { rule, texts }: Items['breaks'][number]): ListBreak {
  const others = listValues(parameter, items);
  return {
    rule: `items ${rule}`,
    values: fc.tuple(others, texts.filter(inList(parameter.in)), fc.nat()).map(([texts, text, seed]) => {
      const at = seed % texts.length;
      return { text: texts.with(at, text), place: `.${at}` };
    }),
  };
}

/** In a header, a comma always parts two items, and an empty item is none. */
const inList = (place: Parameter['in']) => (text: string) => place !== 'header' || /^[^,]+$/.test(text);
