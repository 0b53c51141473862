/**
 * Makes HTML. The tag `html` escapes all values that are not HTML already, because anybody may have written the
 * contract's texts.
 */

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
