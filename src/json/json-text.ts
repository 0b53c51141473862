/**
 * JSON that is text already, such as SQLite writes it: sent as it is, with every digit. `T` is what it says when parsed; a
 * reply declared as `T` takes it in place of a `T`.
 */
export class JsonText<T> {
  declare protected readonly says: T;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
