/** Where a PostgreSQL database is, from its URL. */

export interface PostgresPlace {
  /** Of the same database; the one that can be written is used. */
  hosts: readonly Address[];
  user: string;
  password?: string | undefined;
  database: string;
  /** The schema that has the tables. */
  schema: string;
  /** How the connection is encrypted, and what of the server's certificate is checked, as libpq understands it. */
  sslMode: SslMode;
  /** The file with the certificates to trust, in place of the system's. */
  caFile?: string | undefined;
}

export interface Address {
  host: string;
  port: number;
}

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

export const POSTGRES_FORM =
  'postgres://<user>[:<password>]@<host>[:<port>][,…]/<database>[?sslmode=…&sslrootcert=…&schema=…]';

/** libpq's form: a comma between hosts, which a URL does not have. What may hold other characters is percent-encoded. */
const FORM = /^postgres(?:ql)?:\/\/([^:@/]+)(?::([^@/]*))?@([^@/?]+)\/([^/?]+)(?:\?(.*))?$/;
const HOST = /^(\[[\da-f:.]+\]|[^:]+)(?::(\d{1,5}))?$/i;
type Parts = [
  whole: string,
  user: string | undefined,
  password: string | undefined,
  ...others: [string, string, string],
];

const DEFAULT_PORT = '5432';

/** `undefined` where the text has another form, or an option that is not known. */
export function parsePostgresUrl(url: string): PostgresPlace | undefined {
  const [, user, password, hosts, database, options] = (FORM.exec(url) ?? []) as unknown as Parts;
  if (user === undefined) return undefined;
  const {
    sslmode = 'disable',
    sslrootcert: caFile,
    schema = 'public',
    target_session_attrs: target = 'read-write',
    ...unknown
  } = Object.fromEntries(new URLSearchParams(options));
  const sslMode = SSL_MODES.find((mode) => mode === sslmode);
  if (!sslMode || target !== 'read-write' || Object.keys(unknown).length > 0) return undefined;
  try {
    return {
      hosts: hosts.split(',').map(toAddress),
      user: decodeURIComponent(user),
      password: password && decodeURIComponent(password),
      database: decodeURIComponent(database),
      schema,
      sslMode,
      caFile,
    };
  } catch {
    return undefined;
  }
}

/** @throws Error where it has another form */
function toAddress(text: string): Address {
  const [, host, port = DEFAULT_PORT] = HOST.exec(text) as RegExpExecArray;
  return { host: decodeURIComponent((host as string).replace(/^\[|\]$/g, '')), port: Number(port) };
}

/** For people: without the user and the password. */
export function nameOfPlace({ hosts, database }: PostgresPlace): string {
  return `${database} on ${hosts.map(({ host, port }) => `${host}:${port}`).join(', ')}`;
}
