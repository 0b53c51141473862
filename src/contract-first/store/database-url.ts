/** Parses `DATABASE_URL`. */
import { POSTGRES_FORM, type PostgresSettings, parsePostgresUrl } from './postgres/settings.ts';

export type Database =
  | { kind: 'memory' }
  | { kind: 'sqlite'; file: string }
  | ({ kind: 'postgres' } & PostgresSettings);

export const DATABASE_FORMS = `sqlite:<file>, sqlite::memory: or ${POSTGRES_FORM}`;

/**
 * Matches `sqlite:data.db`, `sqlite:/srv/data.db` and `sqlite:///srv/data.db`, but not `sqlite://data.db`, because
 * `data.db` is a host in that URL.
 */
const SQLITE = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)(.+)$/;

/** Parses the URL of a database. Returns undefined if it is neither a URL of SQLite nor of PostgreSQL. */
export function parseDatabaseUrl(url: string, applicationName: string): Database | undefined {
  const file = SQLITE.exec(url)?.[1];
  if (file === ':memory:') return { kind: 'memory' };
  if (file !== undefined) return { kind: 'sqlite', file };
  const settings = parsePostgresUrl(url, applicationName);
  return settings && { kind: 'postgres', ...settings };
}
