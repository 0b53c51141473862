/**
 * Writes generated TypeScript. A third party may have written the contract, so each text of the contract in the code is
 * a string literal, or a name that this module has checked. Generators return a `CheckedCode`, which only this module
 * can make.
 */
import { toScriptLiteral } from '../../json/literals.ts';

class CheckedCode {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }
}

export type { CheckedCode };

type Value = CheckedCode | string | number | bigint | boolean | null | Value[];

/**
 * The tag for template literals of generated code. Inserts a `CheckedCode` unchanged, and any other value as a literal.
 * Inserts the items of a list one after the other.
 */
export function code(texts: TemplateStringsArray, ...values: Value[]): CheckedCode {
  return new CheckedCode(texts.reduce((text, next, index) => text + toSafe(values[index - 1] as Value) + next));
}

function toSafe(value: Value): string {
  if (value instanceof CheckedCode) return value.text;
  if (Array.isArray(value)) return value.map(toSafe).join('');
  if (typeof value === 'bigint') return `${value}n`;
  return typeof value === 'string' ? toScriptLiteral(value) : String(value);
}

/** Writes a comment of one line. Characters that could end the comment, or that mean something in it, become spaces. */
export const toComment = (text: string): CheckedCode =>
  new CheckedCode(
    `// ${text
      .replace(/[^\w .,:;'{}()-]+/g, ' ')
      .trim()
      .slice(0, 110)}`,
  );

/** Writes any JSON value as a literal. */
export function toLiteral(value: unknown): CheckedCode {
  if (Array.isArray(value)) return code`[${joined(value.map(toLiteral), ', ')}]`;
  if (typeof value !== 'object' || value === null) return code`${value as string | number | bigint | boolean | null}`;
  return toObjectLiteral(Object.entries(value).map(([name, field]) => [name, toLiteral(field)]));
}

/** Writes a field of an object literal. If the value is a variable with the field's name, writes only the name. */
export const toField = (name: string, value: CheckedCode): CheckedCode =>
  value.text === name ? value : code`${toPropertyName(name)}: ${value}`;

/** Writes an object literal with these fields and spread objects, on one line if it fits. */
export function toObjectLiteral(
  fields: (readonly [name: string, value: CheckedCode])[],
  spread: CheckedCode[] = [],
): CheckedCode {
  const named = fields.map(([name, value]) => toField(name, value));
  const written = [...named, ...spread];
  const line = code`{ ${joined(written, ', ')} }`;
  if (line.text.length <= LINE_LENGTH && !line.text.includes('\n')) return written.length > 0 ? line : code`{}`;
  return code`{\n${written.map((field) => code`  ${indented(field)},\n`)}}`;
}

/** The maximum length of an object literal on one line. Code before the literal does not count. */
const LINE_LENGTH = 90;

/**
 * Indents all lines but the first. The indentation cannot change a literal, because literals never contain a line
 * break.
 */
export const indented = ({ text }: CheckedCode): CheckedCode => new CheckedCode(text.replaceAll('\n', '\n  '));

/** Writes the name of a field, quoted if necessary. `__proto__` is in brackets, which make it an ordinary field. */
export function toPropertyName(name: string): CheckedCode {
  if (name === '__proto__') return code`[${name}]`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? new CheckedCode(name) : code`${name}`;
}

export function joined(parts: CheckedCode[], between: string): CheckedCode {
  return new CheckedCode(parts.map(({ text }) => text).join(between));
}

const IDENTIFIER = /^[A-Za-z_$][\w$-]*$/;

/**
 * Returns the name of a variable or a file, to be inserted without quotes. @throws Error if the text could be more than
 * a name
 */
export function checkedName(name: string): CheckedCode {
  if (!IDENTIFIER.test(name)) throw new Error(`${JSON.stringify(name)} cannot be a name in generated code`);
  return new CheckedCode(name);
}

/** Matches identifiers and string literals as openapi-typescript writes them. */
const WRITTEN = /^([A-Za-z_$][\w$]*|"([^"\\\n\r]|\\.)*")$/;

/**
 * Accepts the types that openapi-typescript has printed, and removes `mark` from them. `identifiers` must list all
 * identifiers in the types.
 * @throws Error for an identifier that is neither a name nor a literal
 */
export function printed(types: string, identifiers: string[], mark: string): CheckedCode {
  for (const name of identifiers) if (!WRITTEN.test(name)) checkedName(name);
  return new CheckedCode(types.replaceAll(mark, ''));
}

/** Writes the access to a field, such as `record.name`. `record` may itself be the access to a field. */
export const member = (object: CheckedCode | string, name: string): CheckedCode => {
  const value = typeof object === 'string' ? checkedName(object) : object;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? code`${value}.${checkedName(name)}` : code`${value}[${name}]`;
};
