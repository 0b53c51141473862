/** `DATABASE_URL`, parsed: which database it names. */

export type Database = { kind: 'memory' } | { kind: 'sqlite'; file: string };

export const DATABASE_FORMS = 'sqlite:<file> or sqlite::memory:';

/** `sqlite:pets.db`, `sqlite:/srv/pets.db` and `sqlite:///srv/pets.db`, but not `sqlite://pets.db`, which names a host. */
const SQLITE = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)(.+)$/;

/** `undefined` where the text has none of the forms. */
export function parseDatabaseUrl(url: string): Database | undefined {
  const file = SQLITE.exec(url)?.[1];
  if (file === ':memory:') return { kind: 'memory' };
  return file === undefined ? undefined : { kind: 'sqlite', file };
}
