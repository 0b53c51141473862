import { parseExactJson } from './exact-json.ts';

/**
 * A value as JSON text, as a database writes it. A handler with a reply declared as `T` may return this text, which is
 * sent unchanged, with every digit.
 */
export class JsonText<T> {
  declare protected readonly says: T;
  readonly text: string;
  readonly source: TextSource;

  private constructor(text: string, source: TextSource) {
    this.text = text;
    this.source = source;
  }

  /** Call it as `JsonText.of<Item>(text)`: the caller gives `Item`, because TypeScript does not infer it. */
  static of<T>(text: string, source: TextSource = ANY): JsonText<NoInfer<T>> {
    return new JsonText(text, source);
  }

  /** Parses the text with every digit: 64-bit integers are `bigint`. */
  read(): T {
    return this.source.read(this.text) as T;
  }
}

/**
 * The source of a text, such as a collection. If the build has proven that all texts of a source fit a reply, the
 * server does not check these texts.
 */
export interface TextSource {
  readonly name: string;
  readonly read: (text: string) => unknown;
  /** True if the texts contain internal columns. The server removes these columns from replies. */
  readonly isWhole?: true;
}

/** The source of texts without a known schema. Integers that a double would round become `bigint`. */
const ANY: TextSource = { name: '', read: parseExactJson };
