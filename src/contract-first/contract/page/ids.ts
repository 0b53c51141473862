/** The ids of a page's elements, each once: those of operations as they are, and all others different from them. */
export function buildIds(operations: Iterable<string>) {
  const taken = new Set(operations);
  const objects = new Map<string, string>();

  /** An id of its own for this text. */
  function add(text: string): string {
    const start = text.replace(/[^\w.~-]+/g, '-');
    let id = start;
    for (let number = 2; taken.has(id); number++) id = `${start}-${number}`;
    taken.add(id);
    return id;
  }

  return {
    add,
    ofObject(name: string): string {
      const id = objects.get(name) ?? add(`object-${name}`);
      objects.set(name, id);
      return id;
    },
  };
}

export type Ids = ReturnType<typeof buildIds>;
