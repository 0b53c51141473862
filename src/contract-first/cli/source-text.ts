/**
 * TypeScript that is generated. A third party may have written the contract: each part of it that is written into code is a string
 * literal, or a name that is checked here. Generators return a `Source`, which nothing else can make.
 */
import { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { toScriptLiteral } from '../json/literals.ts';

class Source {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }
}

export type { Source };

type Value = Source | string | Value[];

/** Writes each value that is no source already as a string literal, and the items of a list behind each other. */
export function source(texts: TemplateStringsArray, ...values: Value[]): Source {
  return new Source(texts.reduce((text, next, index) => text + toSafe(values[index - 1] as Value) + next));
}

function toSafe(value: Value): string {
  if (value instanceof Source) return value.text;
  return Array.isArray(value) ? value.map(toSafe).join('') : toScriptLiteral(value);
}

export function joined(parts: Source[], between: string): Source {
  return new Source(parts.map(({ text }) => text).join(between));
}

const NAME = /^[A-Za-z_$][\w$-]*$/;

/** A name that is written as it is, of a variable or a file. @throws Error if it could mean anything else */
export function named(name: string): Source {
  if (!NAME.test(name)) throw new Error(`${JSON.stringify(name)} cannot be a name in generated code`);
  return new Source(name);
}

/** Names that openapi-typescript writes as they are, and its literals. */
const WRITTEN = /^([A-Za-z_$][\w$]*|"([^"\\\n\r]|\\.)*")$/;

/** Prints the types of openapi-typescript, without a mark. @throws Error for a name that could mean anything else */
export function printed(nodes: ts.Node[], mark: string): Source {
  const check = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && !WRITTEN.test(node.text)) named(node.text);
    ts.forEachChild(node, check);
  };
  for (const node of nodes) check(node);
  return new Source(astToString(nodes).replaceAll(mark, ''));
}
