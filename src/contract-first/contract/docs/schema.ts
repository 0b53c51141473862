/** Schemas in words: a type is one line, fields are a list, and a named object is a link to where it is explained. */
import { type Html, html, toText } from '../../engine/docs/html.ts';
import { isMap, type Keywords, type Schema } from '../../engine/schema/json.ts';
import type { Ids } from './ids.ts';
import type { Prose } from './prose.ts';
import { nameOf, type Source } from './source.ts';

interface Term {
  required?: boolean | undefined;
  description?: string | undefined;
  deprecated?: unknown;
}

/** More values than these are left to the description, and so are schemas without a name that are deeper. */
const MOST_VALUES = 12;
const MOST_LEVELS = 5;

export class Words {
  /** The names of the objects that were linked to. */
  readonly linked = new Set<string>();
  private readonly flat: Source['flat'];
  private readonly toProse: Prose['toProse'];
  private readonly ids: Ids;

  constructor({ flat }: Source, { toProse }: Prose, ids: Ids) {
    this.flat = flat;
    this.toProse = toProse;
    this.ids = ids;
  }

  /** `integer, int32, 1 to 100, default 20`. */
  toType(schema: Schema | undefined, level = 0): Html {
    const [name, keywords] = [nameOf(schema), this.flat(schema)];
    if (name !== undefined && isObject(keywords)) {
      this.linked.add(name);
      return html`<a href="#${this.ids.ofObject(name)}">${name}</a>`;
    }
    if (level > MOST_LEVELS) return html`any`;
    const { oneOf, anyOf = [], properties } = keywords;
    const choices = oneOf ?? anyOf;
    if (choices.length > 0 && !properties)
      return join(
        choices.map((choice) => this.toType(choice, level + 1)),
        ' or ',
      );
    const types = [keywords.type ?? (properties ? 'object' : 'any')]
      .flat()
      .map((type) => this.toTypeName(type, keywords, level));
    return join([join(types, ' or '), ...toLimits(keywords)], ', ');
  }

  private toTypeName(type: string, { items }: Keywords, level: number): Html | string {
    return type === 'array' && items !== undefined ? html`array of ${this.toType(items, level + 1)}` : type;
  }

  /** The fields of an object or of an array's items, each with an id below `id`; a type, if there are none. */
  toFields(schema: Schema | undefined, id: string): Html {
    const { items, ...own } = this.flat(schema);
    if (items !== undefined && isObject(this.flat(items))) return html`<p>An array of:</p>${this.toFields(items, id)}`;
    const isListed = own.properties !== undefined && !own.oneOf && !own.anyOf;
    return html`${!isListed && html`<p>${this.toType({ items, ...own })}</p>`}${this.toInner(own, id)}`;
  }

  /** An entry of a list: name, type, whether it is required, description, and the fields of an object without a name. */
  toTerm(name: string, schema: Schema | undefined, path: string, term: Term = {}): Html {
    const keywords = this.flat(schema);
    const id = this.ids.add(`${path}.${name}`);
    const { required, description = keywords.description, deprecated = keywords.deprecated } = term;
    const link = html`<a href="#${id}"><code>${name}</code></a>`;
    const isExplained = nameOf(schema) !== undefined && isObject(keywords);
    return html`<dt id="${id}">${deprecated ? html`<s>${link}</s>` : link} ${this.toType(schema)}${
      required && html` <strong>required</strong>`
    }</dt>
<dd>${this.toProse(description)}${!isExplained && this.toInner(keywords, id)}</dd>
`;
  }

  private toInner({ items, oneOf, anyOf, ...own }: Keywords, id: string): Html | undefined {
    if (id.split('.').length > MOST_LEVELS) return undefined;
    if (items !== undefined) return nameOf(items) === undefined ? this.toInner(this.flat(items), id) : undefined;
    const choices = (oneOf ?? anyOf ?? []).filter((one) => nameOf(one) === undefined && isObject(this.flat(one)));
    const lists = choices.map((choice, index) => {
      return html`<p>Choice ${index + 1}:</p>${this.toInner(this.flat(choice), `${id}.${index + 1}`)}`;
    });
    return html`${own.properties && this.toList(own, id)}${lists}`;
  }

  private toList({ properties = {}, required = [], additionalProperties: others }: Keywords, id: string): Html {
    const terms = Object.entries(properties).map(([name, field]) =>
      this.toTerm(name, field, id, { required: required.includes(name) }),
    );
    const hasOthers = isMap(others) && Object.keys(others).length > 0;
    return html`<dl>${terms}${hasOthers && html`<dt>any other field ${this.toType(others)}</dt><dd></dd>`}</dl>`;
  }
}

/** Whether the schema needs a list of its own. */
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
