/**
 * Makes unique ids for the HTML elements of a page. The id of an operation's element is its operationId. The other ids
 * differ from the operationIds.
 */
export function buildIds(operations: Iterable<string>) {
  const taken = new Set(operations);
  const made = new Map<string, string>();

  /** Makes a new id from a text. If the text is already used as an id, adds a number to it. */
  function add(text: string): string {
    const start = text.replace(/[^\w.~-]+/g, '-');
    let id = start;
    for (let number = 2; taken.has(id); number++) id = `${start}-${number}`;
    taken.add(id);
    return id;
  }

  /** Returns the id of an object or a tag, which is the same at each call with the same name. */
  function known(kind: string, name: string): string {
    const text = `${kind}-${name}`;
    const id = made.get(text) ?? add(text);
    made.set(text, id);
    return id;
  }

  return {
    add,
    ofObject: (name: string) => known('object', name),
    ofTag: (name: string) => known('tag', name),
  };
}

export type Ids = ReturnType<typeof buildIds>;
