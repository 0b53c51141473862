import { parseExactJson } from './exact-json.ts';

/**
 * JSON that is text already, as a store writes it: it is sent unchanged, with every digit. `T` is the type of its value: it may
 * be sent where a reply is declared as `T`.
 */
export class JsonText<T> {
  declare protected readonly says: T;
  readonly text: string;
  readonly source: TextSource;

  private constructor(text: string, source: TextSource) {
    this.text = text;
    this.source = source;
  }

  /** `JsonText.of<Item>(text)`: the type must be named, and is not inferred. */
  static of<T>(text: string, source: TextSource = ANY): JsonText<NoInfer<T>> {
    return new JsonText(text, source);
  }

  /** Its value, with every digit: 64-bit integers are bigint. */
  read(): T {
    return this.source.read(this.text) as T;
  }
}

/** Where texts come from: a reply may be proven to fit all of one source. */
export interface TextSource {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

/** Nothing is known of its values; an integer is a bigint where a double would round it. */
const ANY: TextSource = { name: '', read: parseExactJson };
