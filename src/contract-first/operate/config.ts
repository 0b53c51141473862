/** Reads the environment into a frozen Config. Nothing else reads `process.env`. */
import { isIP } from 'node:net';
import type { Setting, Settings, SettingsOf } from '../engine/services.ts';
import { OperatorError } from '../operator-error.ts';
import { DATABASE_FORMS, type Database, parseDatabaseUrl } from '../store/database-url.ts';
import { parseRate, RATE_FORM } from '../store/rates.ts';
import type { Rate } from '../store/store.ts';
import { toList, Variables } from './variables.ts';

export interface Config {
  host: string;
  port: number;
  /** The listener with metrics and health; without a port there is none. */
  adminHost: string;
  adminPort: number | undefined;
  /** The descriptor of a socket that listens already, in place of host and port. */
  socket: number | undefined;
  database: Database;
  /** Keys that are valid beside those in the store. */
  apiKeys: readonly string[];
  /** The addresses and ranges of proxies whose `X-Forwarded-For` counts. */
  trustProxy: readonly string[];
  /** The path that a proxy strips from the URL that clients call: `/shop`; empty without one. */
  publicPath: string;
  /** The sites whose scripts may call the service from a browser: `https://shop.example`. */
  corsOrigins: readonly string[];
  /** Deprecated operations that are served longer than the contract says, and until when. */
  extendedSunsets: ReadonlyMap<string, Date>;
  logLevel: string;
  isProduction: boolean;
  /** Whether OpenTelemetry's variables name a collector; its SDK reads them all by itself. */
  isTraced: boolean;
  /** The part of requests without a trace that is sampled, from 0 to 1; undefined if the SDK decides. */
  traceRatio: number | undefined;
  /** The addresses and ranges of clients whose `traceparent` makes spans. */
  trustTraces: readonly string[];
  /** How long a request may take to arrive, in milliseconds. */
  requestTimeout: number;
  /** How long a connection may stay open without a request, in milliseconds. */
  keepAliveTimeout: number;
  /** How long a client may take to read a reply, in milliseconds. */
  replyTimeout: number;
  /** The rate limit of keys that have none of their own; undefined for no limit. */
  keyRate: Rate | undefined;
  /** The rate limit of an address for requests without a valid key; undefined for no limit. */
  unauthorizedRate: Rate | undefined;
  /** How many connections are served at a time. */
  maxConnections: number;
  /** How many requests a client may pipeline on one connection. */
  maxPipelined: number;
  /** How many requests are taken in one iteration of the event loop; each open connection has the same share. */
  maxRequests: number;
  /** How long the server goes on serving after a signal, while it is no longer ready, in milliseconds. */
  drainDelay: number;
  /** How long requests in flight may take after that, before their connections are cut, in milliseconds. */
  stopTimeout: number;
  /** How long a write may wait to be durable, in milliseconds. */
  createTimeout: number;
  /** How many writes may wait at once. */
  maxCreates: number;
  /** Warnings about settings that look wrong, without their values. */
  warnings: readonly string[];
}

/** The configuration with the settings that `src/services.ts` declares. */
export type ConfigWith<Declared extends Settings> = Config & { services: SettingsOf<Declared> };

/** The part of a service that its configuration depends on. */
interface Configured<Declared extends Settings> {
  name: string;
  /** The environment variables of its own. */
  settings?: Declared | undefined;
}

export class ConfigError extends OperatorError {
  override name = 'ConfigError';
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const SHORTEST_KEY = 16;

/** A server would otherwise use fewer cores than an operator relies on. */
const MORE_CORES =
  'a server is one process; for more cores run several servers on one PostgreSQL (node_modules/contract-first/operate/process/operators.md)';

/** libpq's variables about encryption, which are refused: we do not read them, and an operator who sets one relies on it. */
const LIBPQ = /^PG(SSL|REQUIRE|CHANNELBINDING|GSS)/;

/** The first descriptor that systemd passes on: SD_LISTEN_FDS_START. */
const FIRST_PASSED = 3;

/** `used` gets the values by the variables' names, without secrets. @throws ConfigError that lists every wrong variable */
export function loadConfig<Declared extends Settings>(
  env: Record<string, string | undefined>,
  { name, settings = {} as Declared }: Configured<Declared>,
  used: Map<string, string> = new Map(),
): Readonly<ConfigWith<Declared>> {
  const variables = new Variables(env, used);
  const { problems, warnings } = variables;
  const callers = readCallers(variables);
  const database = readDatabase(variables, name);
  const config = Object.freeze({
    ...callers,
    database: Object.freeze(database) as Database,
    extendedSunsets: readSunsets(variables),
    ...readLog(variables),
    ...readListeners(variables),
    ...readLimits(variables),
    services: Object.freeze(readSettings(variables, settings)),
    isProduction: variables.text('NODE_ENV') === 'production',
    warnings,
  });
  warnings.push(...variables.misspelt());
  if (env.WORKERS) problems.push(`WORKERS must be left out: ${MORE_CORES}`);
  if (problems.length > 0)
    throw new ConfigError(`Wrong configuration:\n${problems.map((line) => `  - ${line}`).join('\n')}`);
  return config;
}

function readSettings<Declared extends Settings>(variables: Variables, declared: Declared): SettingsOf<Declared> {
  const read = ([name, setting]: [string, Setting]) => [name, readSetting(variables, name, setting)];
  return Object.fromEntries(Object.entries(declared).map(read));
}

function readSetting(variables: Variables, name: string, setting: Setting): string | number {
  if (setting.kind === 'integer') return variables.integer(name, setting.fallback, setting.least, setting.most);
  const { kind, fallback, rule = 'set', fits = () => true } = setting;
  const value = kind === 'secret' ? variables.secret(name, fallback) : variables.text(name, fallback);
  const isMissing = value === '' && fallback === undefined;
  // Not by `variables.refuse`, which repeats the value: it may be a secret.
  if (isMissing || !fits(value)) variables.problems.push(`${name} must be ${rule}`);
  return value;
}

/** Reads who may call. */
function readCallers(variables: Variables) {
  const { problems } = variables;
  const apiKeys = toList(variables.secret('API_KEYS'));
  for (const [index, key] of apiKeys.entries()) {
    if (key.length < SHORTEST_KEY)
      problems.push(`API_KEYS: key ${index + 1} is shorter than ${SHORTEST_KEY} characters`);
    if (!/^[\w.~+/-]+=*$/.test(key))
      problems.push(`API_KEYS: key ${index + 1} is not a bearer token (RFC 6750, section 2.1)`);
  }
  const trustProxy = readRanges(variables, 'TRUST_PROXY', 'unix');
  const corsOrigins = toList(variables.text('CORS_ORIGINS'));
  if (!corsOrigins.every(isOrigin)) {
    variables.refuse(
      'CORS_ORIGINS',
      'origins, such as https://shop.example,http://localhost:5173, without * and paths',
    );
  }
  return {
    publicPath: readPublicPath(variables),
    apiKeys: Object.freeze(apiKeys),
    trustProxy,
    corsOrigins: Object.freeze(corsOrigins),
  };
}

function readPublicPath(variables: Variables): string {
  const text = variables.text('PUBLIC_URL');
  if (!text) return '';
  const path = /^https?:\/\/[^/?#@\s]+((?:\/[\w.~:@!$&'()+,;=-]+)*)\/?$/.exec(text)?.[1];
  if (path === undefined) variables.refuse('PUBLIC_URL', 'a URL, such as https://example.com/shop');
  return path ?? '';
}

function readDatabase(variables: Variables, name: string): Database | undefined {
  const { env, problems } = variables;
  const database = parseDatabase(variables.secret('DATABASE_URL', `sqlite:data/${name}.db`), name, problems);
  if (database?.kind === 'postgres') {
    for (const variable of Object.keys(env).filter((one) => LIBPQ.test(one) && env[one]))
      problems.push(`${variable} is not read: say in DATABASE_URL how its connections are encrypted`);
  }
  return database;
}

/** A day, in milliseconds. */
const DAY = 86_400_000;

/** Reads the last days of operations, in UTC; each day is included. */
function readSunsets(variables: Variables): ReadonlyMap<string, Date> {
  const sunsets = toList(variables.text('EXTEND_SUNSET')).map((item) => item.split(':') as [id: string, day: string]);
  const isOnce = new Set(sunsets.map(([id]) => id)).size === sunsets.length;
  if (!isOnce || !sunsets.every(([, day, ...rest]) => isDay(day) && rest.length === 0)) {
    variables.refuse('EXTEND_SUNSET', 'operations and their last days, each once, such as getItem:2031-06-30');
  }
  return new Map(sunsets.map(([id, day]) => [id, new Date(Date.parse(day) + DAY)]));
}

function readLog(variables: Variables) {
  const logLevel = variables.text('LOG_LEVEL', 'info');
  if (!LOG_LEVELS.includes(logLevel)) variables.refuse('LOG_LEVEL', `one of ${LOG_LEVELS.join(', ')}`);
  const trustTraces = readRanges(variables, 'TRUST_TRACES');
  return { logLevel, isTraced: isTraced(variables.env), traceRatio: toTraceRatio(variables.env), trustTraces };
}

function readListeners(variables: Variables) {
  const { LISTEN_PID, LISTEN_FDS } = variables.env;
  // sd_listen_fds(3): the sockets are for the process that systemd has started.
  const isPassed = Number(LISTEN_PID) === process.pid;
  if (isPassed && LISTEN_FDS !== '1') variables.refuse('LISTEN_FDS', '1: one socket is listened on');
  return {
    host: variables.text('HOST', '127.0.0.1'),
    port: variables.integer('PORT', 3000, 0, 65535),
    adminHost: variables.text('ADMIN_HOST', '127.0.0.1'),
    adminPort: variables.text('ADMIN_PORT') ? variables.integer('ADMIN_PORT', 0, 0, 65535) : undefined,
    socket: isPassed ? FIRST_PASSED : undefined,
  };
}

function readLimits(variables: Variables) {
  return {
    requestTimeout: variables.integer('REQUEST_TIMEOUT', 30_000, 100, 600_000),
    keepAliveTimeout: variables.integer('KEEP_ALIVE_TIMEOUT', 72_000, 1000, 3_600_000),
    replyTimeout: variables.integer('REPLY_TIMEOUT', 30_000, 1000, 600_000),
    keyRate: readRate(variables, 'KEY_RATE'),
    unauthorizedRate: readRate(variables, 'UNAUTHORIZED_RATE'),
    maxConnections: variables.integer('MAX_CONNECTIONS', 1000, 1, 1_000_000),
    maxPipelined: variables.integer('MAX_PIPELINED', 64, 1, 1000),
    maxRequests: variables.integer('MAX_REQUESTS', 32_768, 1, 1_000_000),
    drainDelay: variables.integer('DRAIN_DELAY', 500, 0, 60_000),
    stopTimeout: variables.integer('STOP_TIMEOUT', 10_000, 1000, 600_000),
    createTimeout: variables.integer('CREATE_TIMEOUT', 5000, 100, 600_000),
    maxCreates: variables.integer('MAX_CREATES', 10_000, 1, 1_000_000),
  };
}

function readRate(variables: Variables, name: string): Rate | undefined {
  try {
    return parseRate(variables.text(name, 'none'));
  } catch {
    variables.refuse(name, RATE_FORM);
    return undefined;
  }
}

/** The URL is not repeated in problems: it may contain a password. */
function parseDatabase(url: string, name: string, problems: string[]): Database | undefined {
  try {
    const database = parseDatabaseUrl(url, name);
    if (!database) problems.push(`DATABASE_URL must be ${DATABASE_FORMS}`);
    return database;
  } catch (error) {
    problems.push(`DATABASE_URL ${(error as Error).message}`);
    return undefined;
  }
}

/** Whether a browser would send this text as `Origin`, letter for letter (RFC 6454, section 6.2). */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Whether OpenTelemetry's own variables ask for traces. */
function isTraced(env: Record<string, string | undefined>): boolean {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return Boolean(endpoint) && env.OTEL_SDK_DISABLED !== 'true' && env.OTEL_TRACES_EXPORTER !== 'none';
}

/** Reads the two variables as OpenTelemetry's SDK does. */
function toTraceRatio(env: Record<string, string | undefined>): number | undefined {
  if (env.OTEL_TRACES_SAMPLER?.trim() !== 'parentbased_traceidratio') return undefined;
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG?.trim() || 1);
  return ratio >= 0 && ratio <= 1 ? ratio : undefined;
}

/** Reads addresses and ranges, or this word. */
function readRanges(variables: Variables, name: string, word?: string): readonly string[] {
  const ranges = toList(variables.text(name));
  if (!ranges.every((text) => text === word || isRange(text))) {
    variables.refuse(name, `addresses and ranges, such as 10.0.0.0/8,::1${word ? `, or ${word}` : ''}`);
  }
  return Object.freeze(ranges);
}

/** Whether the text is an address, or a range: `10.0.0.0/8`. */
function isRange(text: string): boolean {
  const [, address = '', prefix = '1'] = /^([\d.]+|[\da-f:.]+)(?:\/([1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] as number;
  return Number(prefix) <= bits;
}

/** Whether the text is a valid day. `Date` alone would read 30 February as 2 March. */
export function isDay(text = ''): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
}
