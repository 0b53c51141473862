import { parseExactJson } from './exact-json.ts';

/** A value that is already JSON text, as a store writes it. A reply that is declared as `T` sends the text unchanged, with every digit. */
export class JsonText<T> {
  declare protected readonly says: T;
  readonly text: string;
  readonly source: TextSource;

  private constructor(text: string, source: TextSource) {
    this.text = text;
    this.source = source;
  }

  /** `JsonText.of<Item>(text)`: the type must be written, and is not inferred. */
  static of<T>(text: string, source: TextSource = ANY): JsonText<NoInfer<T>> {
    return new JsonText(text, source);
  }

  /** Parses the text, with every digit: 64-bit integers are bigint. */
  read(): T {
    return this.source.read(this.text) as T;
  }
}

/** The source of texts, such as a collection. The build may have proven that all texts of a source fit a reply. */
export interface TextSource {
  readonly name: string;
  readonly read: (text: string) => unknown;
  /** Whether the texts contain internal columns. Replies never contain them. */
  readonly isWhole?: true;
}

/** A source without known types. Integers that a double would round are bigint. */
const ANY: TextSource = { name: '', read: parseExactJson };
