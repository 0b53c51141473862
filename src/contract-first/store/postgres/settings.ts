/**
 * Parses the URL of a PostgreSQL database. The options in the URL mean the same as in libpq. An unknown option is an
 * error that names the option.
 */

export interface PostgresSettings {
  /** The servers of one database. The store uses the primary server. */
  hosts: readonly ServerAddress[];
  user: string;
  password?: string | undefined;
  database: string;
  /** The schema that contains the tables. */
  schema: string;
  /** Whether the connection is encrypted, and whether the server's certificate is verified. */
  sslMode: SslMode;
  /** The file with the certificates to trust. Without it, Node's own list applies. */
  caFile?: string | undefined;
  /** The file with the client certificate of this process. `keyFile` contains its key. */
  certFile?: string | undefined;
  keyFile?: string | undefined;
  /** `direct` begins TLS immediately, without asking the server first. */
  sslNegotiation: 'postgres' | 'direct';
  /** Whether statements are prepared. If undefined, they are prepared unless the connection goes through a pooler. */
  isPrepared?: boolean | undefined;
  /** The name of our connections in the server's list, for its administrators. */
  applicationName: string;
}

export interface ServerAddress {
  host: string;
  port: number;
}

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];

export const POSTGRES_FORM =
  'postgres://<user>[:<password>]@<host>[:<port>][,…]/<database>[?sslmode=…&sslrootcert=…&schema=…]';

/**
 * Matches the form of a URL in libpq: it may contain several hosts, separated by commas. User, password and database
 * are percent-encoded.
 */
const FORM = /^postgres(?:ql)?:\/\/([^:@/]+)(?::([^@/]*))?@([^@/?]+)\/([^/?]+)(?:\?(.*))?$/;
const HOST = /^(\[[\da-f:.]+\]|[^:]+)(?::(\d{1,5}))?$/i;
type Parts = [
  whole: string,
  user: string | undefined,
  password: string | undefined,
  ...others: [string, string, string],
];

const DEFAULT_PORT = '5432';

/**
 * Parses a URL. Returns undefined if it is not a URL of PostgreSQL. @throws Error that names an unknown option or an
 * invalid value
 */
export function parsePostgresUrl(url: string, applicationName: string): PostgresSettings | undefined {
  const [, user, password, hosts, database, options] = (FORM.exec(url) ?? []) as unknown as Parts;
  if (user === undefined) return undefined;
  const given = toOptions(Object.fromEntries(new URLSearchParams(options)));
  try {
    return {
      ...given,
      hosts: hosts.split(',').map(toAddress),
      user: decodeURIComponent(user),
      password: password && decodeURIComponent(password),
      database: decodeURIComponent(database),
      applicationName,
    };
  } catch {
    return undefined;
  }
}

/**
 * Parses a host with an optional port.
 * @throws Error if the text does not fit this form, or the port is outside 1 to 65535
 */
function toAddress(text: string): ServerAddress {
  const [, host, port = DEFAULT_PORT] = HOST.exec(text) as RegExpExecArray;
  if (Number(port) < 1 || Number(port) > 65535) throw new RangeError(port);
  return { host: decodeURIComponent((host as string).replace(/^\[|\]$/g, '')), port: Number(port) };
}

function toOptions(
  options: Record<string, string>,
): Omit<PostgresSettings, 'hosts' | 'user' | 'password' | 'database' | 'applicationName'> {
  const { sslmode, sslrootcert, sslcert, sslkey, sslnegotiation, schema, prepared, target_session_attrs, ...unknown } =
    options;
  const [other] = Object.keys(unknown);
  // The message leaves out a name with unusual characters, because it may be a piece of a password.
  if (other !== undefined) throw new Error(`has an option that is not known${/^\w+$/.test(other) ? `: ${other}` : ''}`);
  if ((target_session_attrs ?? 'read-write') !== 'read-write')
    throw new Error('must have target_session_attrs=read-write');
  const sslMode = SSL_MODES.find((mode) => mode === (sslmode ?? 'disable'));
  if (!sslMode) throw new Error(`must have an sslmode of ${SSL_MODES.join(', ')}`);
  const isDirect = sslnegotiation === 'direct';
  if (isDirect && sslMode === 'disable') throw new Error('has sslnegotiation=direct, which needs sslmode=verify-full');
  const [needing] = Object.entries({ sslrootcert, sslcert, sslkey, sslnegotiation }).find(([, value]) => value) ?? [];
  // libpq would connect without encryption if a server does not support it, so we require an explicit `sslmode`.
  if (needing && sslmode === undefined) throw new Error(`has ${needing}, which needs sslmode=verify-full`);
  if (sslrootcert === 'system' && sslmode !== 'verify-full')
    throw new Error('has sslrootcert=system, which needs sslmode=verify-full');
  if ((sslcert === undefined) !== (sslkey === undefined))
    throw new Error('must have sslcert and sslkey, or none of them');
  if (!['postgres', 'direct', undefined].includes(sslnegotiation))
    throw new Error('must have an sslnegotiation of postgres or direct');
  if (!['on', 'off', undefined].includes(prepared)) throw new Error('must have a prepared of on or off');
  return {
    schema: schema ?? 'public',
    sslMode,
    caFile: sslrootcert === 'system' ? undefined : sslrootcert,
    certFile: sslcert,
    keyFile: sslkey,
    sslNegotiation: isDirect ? 'direct' : 'postgres',
    isPrepared: prepared === undefined ? undefined : prepared === 'on',
  };
}

/** Returns the database and its servers for messages, without the user and the password. */
export function nameOfServer({ hosts, database }: PostgresSettings): string {
  return `${database} on ${hosts.map(({ host, port }) => `${host}:${port}`).join(', ')}`;
}
