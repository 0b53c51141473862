/**
 * Reads the environment variables of a service into a frozen Config. `SETTINGS` lists them. `start.ts` passes
 * `process.env`.
 */
import { isIP } from 'node:net';
import type { Setting, Settings, SettingsOf } from '../engine/services.ts';
import { OperatorError } from '../operator-error.ts';
import { findKeyProblems } from '../store/api-keys.ts';
import { DATABASE_FORMS, type Database, parseDatabaseUrl } from '../store/database-url.ts';
import { parseRate, RATE_FORM } from '../store/rates.ts';
import { toList, Variables } from './variables.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const LOG_FORMATS = ['auto', 'json', 'short'];
const ORIGINS = 'origins, such as https://shop.example,http://localhost:5173, without * and paths';
const RANGES = 'addresses and ranges, such as 10.0.0.0/8,::1';

/** The settings in the order of `config.md`, which describes them. Times are in milliseconds. */
const SETTINGS = {
  host: (read) => read.text('HOST', '127.0.0.1'),
  port: (read) => read.integer('PORT', 3000, 0, 65535),
  /**
   * The file descriptor of a listening socket that systemd passes. If it is set, the server does not use host and port.
   */
  socket: readSocket,
  /** The address of the listener for metrics and health, which the server opens only if a port is set. */
  adminHost: (read) => read.text('ADMIN_HOST', '127.0.0.1'),
  adminPort: (read) => (read.text('ADMIN_PORT') ? read.integer('ADMIN_PORT', 0, 0, 65535) : undefined),
  database: readDatabase,
  /** API keys that are valid in addition to those in the database. */
  apiKeys: readKeys,
  /** The addresses and ranges of the proxies that the server trusts to send `X-Forwarded-For`. */
  trustProxy: (read) => read.parsed('TRUST_PROXY', `${RANGES}, or unix`, toItems(isProxy)),
  /** The path of PUBLIC_URL, such as `/shop`, which a proxy removes before it forwards a request. Empty by default. */
  publicPath: (read) => read.parsed('PUBLIC_URL', 'a URL, such as https://example.com/shop', toPublicPath),
  /**
   * The addresses and ranges of the clients that the server trusts to send `traceparent`: spans continue the client's
   * trace.
   */
  trustTraces: (read) => read.parsed('TRUST_TRACES', RANGES, toItems(isRange)),
  /** The origins of web pages that may call the service from a browser: `https://shop.example`. */
  corsOrigins: (read) => read.parsed('CORS_ORIGINS', ORIGINS, toItems(isOrigin)),
  isProduction: (read) => read.text('NODE_ENV') === 'production',
  logLevel: (read) => read.parsed('LOG_LEVEL', `one of ${LOG_LEVELS.join(', ')}`, toLogLevel, 'info'),
  /** The form of log lines: `json`, `short` for people, or `auto`, which is short on a terminal and otherwise JSON. */
  logFormat: (read) => read.parsed('LOG_FORMAT', `one of ${LOG_FORMATS.join(', ')}`, toLogFormat, 'auto'),
  /** The rate limit of keys that were made without a limit; undefined for no limit. */
  keyRate: (read) => read.parsed('KEY_RATE', RATE_FORM, parseRate, 'none'),
  /** The rate limit of a client's address for requests without a valid key; undefined for no limit. */
  unauthorizedRate: (read) => read.parsed('UNAUTHORIZED_RATE', RATE_FORM, parseRate, 'none'),
  /** How long a request may take to arrive. */
  requestTimeout: (read) => read.integer('REQUEST_TIMEOUT', 30_000, 100, 600_000),
  /** How long a connection may stay open without a request. */
  keepAliveTimeout: (read) => read.integer('KEEP_ALIVE_TIMEOUT', 72_000, 1000, 3_600_000),
  /** How long a client may take to read a reply. */
  replyTimeout: (read) => read.integer('REPLY_TIMEOUT', 30_000, 1000, 600_000),
  /** How many connections are served at a time. */
  maxConnections: (read) => read.integer('MAX_CONNECTIONS', 1000, 1, 1_000_000),
  /** How many requests of one connection may wait for their replies at a time. */
  maxPipelined: (read) => read.integer('MAX_PIPELINED', 64, 1, 1000),
  /** How long the server goes on serving after a signal to stop. During this time, readiness checks already fail. */
  drainDelay: (read) => read.integer('DRAIN_DELAY', 500, 0, 60_000),
  /** How long requests in flight may take after `DRAIN_DELAY`, before the server closes their connections. */
  stopTimeout: (read) => read.integer('STOP_TIMEOUT', 10_000, 1000, 600_000),
  /** How long a change may wait to be durable. In spite of its name, CREATE_TIMEOUT applies to all changes. */
  createTimeout: (read) => read.integer('CREATE_TIMEOUT', 5000, 100, 600_000),
  /** How many changes may wait to be durable at a time. */
  maxCreates: (read) => read.integer('MAX_CREATES', 10_000, 1, 1_000_000),
  /** True if OpenTelemetry's variables name a collector. The SDK reads these variables itself. */
  isTraced: ({ env }) => isTraced(env),
  /**
   * The share of requests without a trusted `traceparent` that are sampled, from 0 to 1; undefined if the SDK decides.
   */
  traceRatio: ({ env }) => toTraceRatio(env),
} satisfies Record<string, (variables: Variables, service: string) => unknown>;

export type Config = { readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]> } & {
  /** Warnings about settings that look wrong, without the values, which may be secrets. */
  readonly warnings: readonly string[];
};

/** The configuration with the settings that `src/services.ts` declares. */
export type ConfigWith<Declared extends Settings> = Config & { services: SettingsOf<Declared> };

/** The fields of a service that its configuration depends on. */
interface Configured<Declared extends Settings> {
  name: string;
  /** The environment variables that `src/services.ts` declares. */
  settings?: Declared | undefined;
}

export class ConfigError extends OperatorError {
  override name = 'ConfigError';
}

/**
 * Why a configuration with `WORKERS` stops the start: the operator expects several processes, but the server is a
 * single one.
 */
const MORE_CORES =
  'a server is one process; for more cores run several servers on one PostgreSQL (node_modules/contract-first/operate/process/operators.md)';

/**
 * Reads the configuration. Adds the values to `used` by name, with `***` for secrets. @throws ConfigError that lists
 * all problems
 */
export function loadConfig<Declared extends Settings>(
  env: Record<string, string | undefined>,
  { name, settings = {} as Declared }: Configured<Declared>,
  used: Map<string, string> = new Map(),
): Readonly<ConfigWith<Declared>> {
  const variables = new Variables(env, used);
  const { problems, warnings } = variables;
  const config = Object.fromEntries(Object.entries(SETTINGS).map(([key, read]) => [key, read(variables, name)]));
  const own = Object.entries(settings).map(([name, setting]) => [name, readTeamSetting(variables, name, setting)]);
  warnings.push(...variables.misspelt());
  if (env.WORKERS) problems.push(`WORKERS must be left out: ${MORE_CORES}`);
  if (problems.length > 0)
    throw new ConfigError(`Wrong configuration:\n${problems.map((line) => `  - ${line}`).join('\n')}`);
  const services = Object.freeze(Object.fromEntries(own));
  return Object.freeze({ ...(config as Config), services, warnings });
}

/** Reads a setting that the team has declared. */
function readTeamSetting(variables: Variables, name: string, setting: Setting): string | number {
  if (setting.kind === 'integer') return variables.integer(name, setting.fallback, setting.least, setting.most);
  const { kind, fallback, rule = 'set', fits = () => true } = setting;
  const value = kind === 'secret' ? variables.secret(name, fallback) : variables.text(name, fallback);
  const isMissing = value === '' && fallback === undefined;
  // The message does not contain the value, which may be a secret.
  if (isMissing || !fits(value)) variables.problems.push(`${name} must be ${rule}`);
  return value;
}

function readKeys(variables: Variables): readonly string[] {
  const keys = toList(variables.secret('API_KEYS'));
  variables.problems.push(...findKeyProblems(keys).map((problem) => `API_KEYS: ${problem}`));
  return Object.freeze(keys);
}

/**
 * Matches the environment variables that configure encryption in libpq. If one of them is set, the start fails, because
 * the operator expects it to apply, but the server does not read it.
 */
const LIBPQ = /^PG(SSL|REQUIRE|CHANNELBINDING|GSS)/;

/** Reads the URL of the database. Messages about it do not contain the URL, because it may contain a password. */
function readDatabase(variables: Variables, service: string): Database {
  const { env, problems } = variables;
  const url = variables.secret('DATABASE_URL', `sqlite:data/${service}.db`);
  try {
    const database = parseDatabaseUrl(url, service);
    if (!database) problems.push(`DATABASE_URL must be ${DATABASE_FORMS}`);
    for (const variable of database?.kind === 'postgres' ? Object.keys(env).filter((one) => LIBPQ.test(one)) : [])
      if (env[variable])
        problems.push(`${variable} is not read: say in DATABASE_URL how its connections are encrypted`);
    return Object.freeze(database as Database);
  } catch (error) {
    problems.push(`DATABASE_URL ${(error as Error).message}`);
    return undefined as never;
  }
}

/** The first file descriptor that systemd passes: SD_LISTEN_FDS_START. */
const FIRST_PASSED = 3;

function readSocket(variables: Variables): number | undefined {
  const { LISTEN_PID, LISTEN_FDS } = variables.env;
  // systemd passes the sockets to the process LISTEN_PID (sd_listen_fds(3)). Another process may have inherited these
  // variables, but not the sockets.
  if (Number(LISTEN_PID) !== process.pid) return undefined;
  if (LISTEN_FDS !== '1') variables.addProblem('LISTEN_FDS', '1: one socket is listened on');
  return FIRST_PASSED;
}

/**
 * Throws an error if a condition is false. `Variables.parsed` catches the error, and reports the rule of the setting.
 */
function demand(isRight: boolean): void {
  if (!isRight) throw new Error('It is not what the rule says.');
}

function toItems(isItem: (text: string) => boolean): (text: string) => readonly string[] {
  return (text) => {
    const items = toList(text);
    demand(items.every(isItem));
    return Object.freeze(items);
  };
}

function toLogFormat(format: string): string {
  demand(LOG_FORMATS.includes(format));
  return format;
}

function toLogLevel(level: string): string {
  demand(LOG_LEVELS.includes(level));
  return level;
}

function toPublicPath(url: string): string {
  const path = /^https?:\/\/[^/?#@\s]+((?:\/[\w.~:@!$&'()+,;=-]+)*)\/?$/.exec(url)?.[1];
  demand(url === '' || path !== undefined);
  return path ?? '';
}

/** True if a browser would send exactly this text as `Origin` (RFC 6454, section 6.2). */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** True if OpenTelemetry's own variables ask for traces. */
function isTraced(env: Record<string, string | undefined>): boolean {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return Boolean(endpoint) && env.OTEL_SDK_DISABLED !== 'true' && env.OTEL_TRACES_EXPORTER !== 'none';
}

/** Reads the sampling ratio from `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`, like OpenTelemetry's SDK. */
function toTraceRatio(env: Record<string, string | undefined>): number | undefined {
  if (env.OTEL_TRACES_SAMPLER?.trim() !== 'parentbased_traceidratio') return undefined;
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG?.trim() || 1);
  return ratio >= 0 && ratio <= 1 ? ratio : undefined;
}

const isProxy = (text: string) => text === 'unix' || isRange(text);

/** True if the text is an address, or a range such as `10.0.0.0/8`. */
function isRange(text: string): boolean {
  const [, address = '', prefix = '1'] = /^([\d.]+|[\da-f:.]+)(?:\/([1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] as number;
  return Number(prefix) <= bits;
}
