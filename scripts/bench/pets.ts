/** The pets in every database of the benchmark at its start: any number of them, known without a query. */

/** By the remainder of the id: a quarter of the pets each, and a quarter without a status. */
const STATUSES = [undefined, 'available', 'pending', 'sold'];

/** The JSON text of a pet, as every server must send it. */
export function toPetText(id: number): string {
  return JSON.stringify({ id, name: `Pet ${id}`, categoryId: (id % 100) + 1, status: STATUSES[id % STATUSES.length] });
}

/** The JSON text of the first pets, or of the first with a status. */
export function toListText(limit: number, status?: string): string {
  const ids = Array.from({ length: limit }, (_, index) =>
    status ? index * STATUSES.length + STATUSES.indexOf(status) : index + 1,
  );
  return `[${ids.map(toPetText)}]`;
}

/** SQL: the columns of the pet with an id. */
export const VALUES = `
  id, 'Pet ' || id, id % 100 + 1, CASE id % 4 WHEN 1 THEN 'available' WHEN 2 THEN 'pending' WHEN 3 THEN 'sold' END`;
