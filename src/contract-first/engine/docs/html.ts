/** HTML. The tag `html` escapes all values that are not HTML already, since anybody may have written the contract's texts. */
import { stringify } from 'lossless-json';
import { isNode } from '../schema/json.ts';

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | string | number | undefined | false | Value[];

export function html(texts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(texts.reduce((text, next, index) => text + toSafe(values[index - 1]) + next));
}

function toSafe(value: Value): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(toSafe).join('');
  if (value === undefined || value === false) return '';
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Text between tags alone, such as JSON, where quotes may stand as they are. */
export const toContent = (text: string): Html =>
  new Html(text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;'));

/** Any value of a contract: an object may have a `toString` of its own. */
export const toText = (value: unknown): string => (isNode(value) ? (stringify(value) as string) : String(value));
