/**
 * Renders schemas: a type as one line, fields as a list, and a named object as a link to the section that explains it.
 */
import type { ParameterNode } from '../../engine/contract/document.ts';
import { type Html, html } from '../../engine/docs/html.ts';
import { isMap, type Keywords, type Schema } from '../../engine/schema/json.ts';
import type { Ids } from './ids.ts';
import { type Prose, toText } from './prose.ts';
import { componentNameOf, type DocumentSource } from './source.ts';

/** The maximum number of listed values. A longer list is left out of the type. */
const MOST_VALUES = 12;
/** The maximum depth of nested schemas without a name. */
const MOST_LEVELS = 5;

/** The sources of the texts and links in a page. */
export interface Vocabulary extends DocumentSource, Prose {
  ids: Ids;
  /** The names of the objects that the page links to. */
  linked: Set<string>;
}

/** Renders a type in one line, such as `integer, int32, 1 to 100, default 20`. */
export function renderType(page: Vocabulary, schema: Schema | undefined, level = 0): Html {
  const [name, keywords] = [componentNameOf(schema), page.flat(schema)];
  if (name !== undefined && isObject(keywords)) {
    page.linked.add(name);
    return html`<a href="#${page.ids.ofObject(name)}">${name}</a>`;
  }
  if (level > MOST_LEVELS) return html`any`;
  const { oneOf, anyOf = [], properties } = keywords;
  const choices = oneOf ?? anyOf;
  if (choices.length > 0 && !properties)
    return join(
      choices.map((choice) => renderType(page, choice, level + 1)),
      ' or ',
    );
  const types = [keywords.type ?? (properties ? 'object' : 'any')]
    .flat()
    .map((type) => toTypeName(page, type, keywords, level));
  return join([join(types, ' or '), ...toLimits(keywords)], ', ');
}

function toTypeName(page: Vocabulary, type: string, { items }: Keywords, level: number): Html | string {
  return type === 'array' && items !== undefined ? html`array of ${renderType(page, items, level + 1)}` : type;
}

/**
 * Renders the fields of an object, or of an array's items, with ids that begin with `id`. Without fields, renders the
 * type.
 */
export function renderFields(page: Vocabulary, schema: Schema | undefined, id: string): Html {
  const { items, ...own } = page.flat(schema);
  if (items !== undefined && isObject(page.flat(items)))
    return html`<p>An array of:</p>${renderFields(page, items, id)}`;
  const isListed = own.properties !== undefined && !own.oneOf && !own.anyOf;
  return html`${!isListed && html`<p>${renderType(page, { items, ...own })}</p>`}${toInner(page, own, id)}`;
}

/** Renders a parameter or a field: its name, type and description, and the fields of an object without a name. */
export function renderTerm(
  page: Vocabulary,
  name: string,
  schema: Schema | undefined,
  path: string,
  term: Partial<ParameterNode> = {},
): Html {
  const keywords = page.flat(schema);
  const id = page.ids.add(`${path}.${name}`);
  const { required, description = keywords.description, deprecated = keywords.deprecated } = term;
  const link = html`<a href="#${id}"><code>${name}</code></a>`;
  const isExplained = componentNameOf(schema) !== undefined && isObject(keywords);
  return html`<dt id="${id}">${deprecated ? html`<s>${link}</s>` : link} ${renderType(page, schema)}${
    required && html` <strong>required</strong>`
  }</dt>
<dd>${page.toProse(description)}${!isExplained && toInner(page, keywords, id)}</dd>
`;
}

function toInner(page: Vocabulary, { items, oneOf, anyOf, ...own }: Keywords, id: string): Html | undefined {
  if (id.split('.').length > MOST_LEVELS) return undefined;
  if (items !== undefined)
    return componentNameOf(items) === undefined ? toInner(page, page.flat(items), id) : undefined;
  const choices = (oneOf ?? anyOf ?? []).filter(
    (one) => componentNameOf(one) === undefined && isObject(page.flat(one)),
  );
  const lists = choices.map((choice, index) => {
    return html`<p>Choice ${index + 1}:</p>${toInner(page, page.flat(choice), `${id}.${index + 1}`)}`;
  });
  return html`${own.properties && toList(page, own, id)}${lists}`;
}

function toList(
  page: Vocabulary,
  { properties = {}, required = [], additionalProperties: others }: Keywords,
  id: string,
): Html {
  const terms = Object.entries(properties).map(([name, field]) =>
    renderTerm(page, name, field, id, { required: required.includes(name) }),
  );
  const hasOthers = isMap(others) && Object.keys(others).length > 0;
  return html`<dl>${terms}${hasOthers && html`<dt>any other field ${renderType(page, others)}</dt><dd></dd>`}</dl>`;
}

/** True if the schema has fields or alternatives, which need a list. */
const isObject = ({ properties = {}, oneOf, anyOf }: Keywords): boolean =>
  Object.keys(properties).length > 0 || (oneOf ?? anyOf ?? []).length > 1;

export const join = (parts: (Html | string)[], separator: string): Html =>
  html`${parts.map((part, index) => [index > 0 && separator, part])}`;

function toLimits(keywords: Keywords): (Html | string)[] {
  const { format, enum: values, const: only, default: preset, minLength, maxLength, minItems, maxItems } = keywords;
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = keywords;
  const limits = [
    format,
    toRange(minimum, maximum),
    above !== undefined && `more than ${above}`,
    below !== undefined && `less than ${below}`,
    multipleOf !== undefined && `a multiple of ${multipleOf}`,
    toRange(minLength, maxLength, ' characters'),
    toRange(minItems, maxItems, ' items'),
    keywords.uniqueItems === true && 'each once',
    only !== undefined && html`always ${toValues([only])}`,
    values && values.length <= MOST_VALUES && html`one of ${toValues(values)}`,
    preset !== undefined && html`default ${toValues([preset])}`,
    keywords.readOnly === true && 'only in replies',
    keywords.writeOnly === true && 'only in requests',
  ];
  return limits.filter((limit): limit is Html | string => Boolean(limit));
}

function toRange(least: unknown, most: unknown, units = ''): string | undefined {
  const unit = String(most ?? least) === '1' ? units.replace(/s$/, '') : units;
  if (least === undefined) return most === undefined ? undefined : `at most ${most}${unit}`;
  if (most === undefined) return `at least ${least}${unit}`;
  return String(least) === String(most) ? `${least}${unit}` : `${least} to ${most}${unit}`;
}

const toValues = (values: unknown[]): Html =>
  join(
    values.map((value) => html`<code>${toText(value)}</code>`),
    ' ',
  );
