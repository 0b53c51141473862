/**
 * JSON that is text already, such as SQLite writes it: sent as it is, with every digit. `T` is what it says when parsed; a
 * reply declared as `T` takes it in place of a `T`.
 */
export class JsonText<T> {
  declare protected readonly says: T;
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** `JsonText.of<Pet>(text)`: what the text says is never guessed from where it is used. */
  static of<T>(text: string): JsonText<NoInfer<T>> {
    return new JsonText(text);
  }
}
