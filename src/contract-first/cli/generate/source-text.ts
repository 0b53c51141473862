/**
 * TypeScript that is generated. A third party may have written the contract: each part of it that is written into code is a string
 * literal, or a name that is checked here. Generators return a `Source`, which nothing else can make.
 */
import { astToString } from 'openapi-typescript';
import ts from 'typescript';
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

type Value = CheckedCode | string | Value[];

/** Writes each value that is no source already as a string literal, and the items of a list behind each other. */
export function code(texts: TemplateStringsArray, ...values: Value[]): CheckedCode {
  return new CheckedCode(texts.reduce((text, next, index) => text + toSafe(values[index - 1] as Value) + next));
}

function toSafe(value: Value): string {
  if (value instanceof CheckedCode) return value.text;
  return Array.isArray(value) ? value.map(toSafe).join('') : toScriptLiteral(value);
}

export function joined(parts: CheckedCode[], between: string): CheckedCode {
  return new CheckedCode(parts.map(({ text }) => text).join(between));
}

const IDENTIFIER = /^[A-Za-z_$][\w$-]*$/;

/** A name that is written as it is, of a variable or a file. @throws Error if it could mean anything else */
export function checkedName(name: string): CheckedCode {
  if (!IDENTIFIER.test(name)) throw new Error(`${JSON.stringify(name)} cannot be a name in generated code`);
  return new CheckedCode(name);
}

/** Names that openapi-typescript writes as they are, and its literals. */
const WRITTEN = /^([A-Za-z_$][\w$]*|"([^"\\\n\r]|\\.)*")$/;

/** Prints the types of openapi-typescript, without a mark. @throws Error for a name that could mean anything else */
export function printed(nodes: ts.Node[], mark: string): CheckedCode {
  const check = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && !WRITTEN.test(node.text)) checkedName(node.text);
    ts.forEachChild(node, check);
  };
  for (const node of nodes) check(node);
  return new CheckedCode(astToString(nodes).replaceAll(mark, ''));
}
