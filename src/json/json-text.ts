/**
 * JSON that is text already, as SQLite writes it: it is sent unchanged, with every digit. `T` is the type of its value: it may
 * be sent where a reply is declared as `T`.
 */
export class JsonText<T> {
  declare protected readonly says: T;
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** `JsonText.of<Item>(text)`: the type must be named, and is not inferred. */
  static of<T>(text: string): JsonText<NoInfer<T>> {
    return new JsonText(text);
  }
}
