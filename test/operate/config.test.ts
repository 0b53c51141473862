import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { ConfigError } from '../../src/contract-first/operate/config.ts';
import { DATABASE_FORMS } from '../../src/contract-first/store/database-url.ts';
import { loadConfig } from '../config.ts';

/** Returns the problems of these environment variables, one line each. */
function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [head, ...lines] = error.message.split('\n');
    t.equal(head, 'Wrong configuration:');
    return lines;
  }
}

/** Checks that a variable accepts the right values, and that the error for each wrong value states the rule. */
function takes(t: Test, name: string, rule: string, right: string[], wrong: string[]): void {
  for (const value of right) t.strictSame(problemsOf({ [name]: value }), []);
  for (const value of wrong)
    t.strictSame(problemsOf({ [name]: value }), [`  - ${name} must be ${rule}, not "${value}"`]);
}

t.test('without environment variables, every setting has its default', (t) => {
  t.strictSame(loadConfig({}), {
    host: '127.0.0.1',
    socket: undefined,
    isTraced: false,
    traceRatio: undefined,
    trustTraces: [],
    port: 3000,
    adminHost: '127.0.0.1',
    adminPort: undefined,
    database: { kind: 'sqlite', file: 'data/petstore.db' },
    apiKeys: [],
    trustProxy: [],
    corsOrigins: [],
    publicPath: '',
    logLevel: 'info',
    logFormat: 'auto',
    isProduction: false,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    replyTimeout: 30_000,
    keyRate: undefined,
    unauthorizedRate: undefined,
    maxConnections: 1000,
    maxPipelined: 64,
    drainDelay: 500,
    stopTimeout: 10_000,
    createTimeout: 5000,
    maxCreates: 10_000,
    services: {},
    warnings: [],
  });
  t.end();
});

t.test('every setting can be set by its environment variable', (t) => {
  const config = loadConfig({
    HOST: '::',
    PORT: '8080',
    DATABASE_URL: 'sqlite:///srv/pets.db',
    API_KEYS: 'first-key-0123456789, second.key~+/0123456789==,',
    TRUST_PROXY: '10.0.0.0/8, ::1',
    PUBLIC_URL: 'https://shop.example/petstore/',
    CORS_ORIGINS: 'https://shop.example, http://localhost:5173',
    LOG_LEVEL: 'debug',
    LOG_FORMAT: 'json',
    NODE_ENV: 'production',
    REQUEST_TIMEOUT: '5000',
    KEEP_ALIVE_TIMEOUT: '65000',
    REPLY_TIMEOUT: '1000',
    KEY_RATE: '100/s',
    UNAUTHORIZED_RATE: '20/m',
    MAX_CONNECTIONS: '1',
    MAX_PIPELINED: '1000',
    DRAIN_DELAY: '0',
    STOP_TIMEOUT: '600000',
    CREATE_TIMEOUT: '100',
    MAX_CREATES: '1',
    ADMIN_PORT: '9000',
    PATH: '/bin',
  });
  t.strictSame(config, {
    host: '::',
    socket: undefined,
    isTraced: false,
    traceRatio: undefined,
    trustTraces: [],
    port: 8080,
    adminHost: '127.0.0.1',
    adminPort: 9000,
    database: { kind: 'sqlite', file: '/srv/pets.db' },
    apiKeys: ['first-key-0123456789', 'second.key~+/0123456789=='],
    trustProxy: ['10.0.0.0/8', '::1'],
    publicPath: '/petstore',
    corsOrigins: ['https://shop.example', 'http://localhost:5173'],
    logLevel: 'debug',
    logFormat: 'json',
    isProduction: true,
    requestTimeout: 5000,
    keepAliveTimeout: 65_000,
    replyTimeout: 1000,
    keyRate: { limit: 100, window: 1 },
    unauthorizedRate: { limit: 20, window: 60 },
    maxConnections: 1,
    maxPipelined: 1000,
    drainDelay: 0,
    stopTimeout: 600_000,
    createTimeout: 100,
    maxCreates: 1,
    services: {},
    warnings: [],
  });
  t.end();
});

t.test('if an environment variable is empty, its setting has the default', (t) => {
  const names = ['HOST', 'PORT', 'DATABASE_URL', 'API_KEYS', 'LOG_LEVEL', 'NODE_ENV', 'REQUEST_TIMEOUT'];
  t.strictSame(loadConfig(Object.fromEntries(names.map((name) => [name, '']))), loadConfig({}));
  t.end();
});

t.test('no code can change the loaded configuration', (t) => {
  const config = loadConfig({ API_KEYS: 'first-key-0123456789' }) as unknown as { port: number; apiKeys: string[] };
  t.throws(() => {
    config.port = 1;
  }, TypeError);
  t.throws(() => config.apiKeys.push('another'), TypeError);
  t.end();
});

t.test('if environment variables are wrong, one error lists all of them with their allowed values', (t) => {
  const env = {
    PORT: '65536',
    DATABASE_URL: 'mysql://ada:secret@db/pets',
    API_KEYS: 'short',
    LOG_LEVEL: 'loud',
    LOG_FORMAT: 'pretty',
    REQUEST_TIMEOUT: '99',
    DRAIN_DELAY: '-1',
    STOP_TIMEOUT: '1e3',
  };
  t.strictSame(problemsOf(env), [
    '  - PORT must be an integer from 0 to 65535, not "65536"',
    `  - DATABASE_URL must be ${DATABASE_FORMS}`,
    '  - API_KEYS: key 1 is shorter than 16 characters',
    '  - LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
    '  - LOG_FORMAT must be one of auto, json, short, not "pretty"',
    '  - REQUEST_TIMEOUT must be an integer from 100 to 600000, not "99"',
    '  - DRAIN_DELAY must be an integer from 0 to 60000, not "-1"',
    '  - STOP_TIMEOUT must be an integer from 1000 to 600000, not "1e3"',
  ]);
  t.end();
});

t.test('PUBLIC_URL accepts HTTP URLs without a query or user, and the server uses only the path', (t) => {
  const paths = { 'https://shop.example': '', 'http://shop.example:8080/': '', 'https://shop.example/a/b-c': '/a/b-c' };
  for (const [PUBLIC_URL, publicPath] of Object.entries(paths))
    t.equal(loadConfig({ PUBLIC_URL }).publicPath, publicPath);
  const wrong = ['/petstore', 'shop.example/a', 'ftp://shop.example', 'https://shop.example/a?b', 'https://u@shop/a'];
  takes(t, 'PUBLIC_URL', 'a URL, such as https://example.com/shop', Object.keys(paths), wrong);
  t.end();
});

t.test('an integer setting, such as PORT, accepts only decimal digits, within its bounds', (t) => {
  const wrong = ['-1', '65536', '1.5', '0x50', '1e3', ' 80', '80 ', 'http', '9'.repeat(400)];
  takes(t, 'PORT', 'an integer from 0 to 65535', ['0', '1', '65535'], wrong);
  t.end();
});

t.test('DATABASE_URL accepts a SQLite file, SQLite in memory and PostgreSQL, and rejects other URLs', (t) => {
  for (const DATABASE_URL of ['sqlite:pets.db', 'sqlite:/srv/pets.db', 'sqlite:///srv/pets.db', 'sqlite::memory:']) {
    t.strictSame(problemsOf({ DATABASE_URL }), []);
  }
  for (const DATABASE_URL of [
    'sqlite:',
    'sqlite:////x',
    'sqlite://host/pets.db',
    'SQLITE:pets.db',
    'pets.db',
    ' sqlite:pets.db',
    'postgres://db/pets',
    'postgres://ada@/pets',
    'postgres://ada@db',
    'postgres://ada@db/',
    'postgres://ada@db:port/pets',
    'postgres://ada@db,/pets',
    'postgres://ada:100%@db/pets',
    'postgres://ada:with@secret@db/pets',
    'postgres://ada@db:65536/pets',
    'postgres://ada@db:0/pets',
  ]) {
    t.strictSame(problemsOf({ DATABASE_URL }), [`  - DATABASE_URL must be ${DATABASE_FORMS}`], DATABASE_URL);
  }
  t.end();
});

t.test('a DATABASE_URL for PostgreSQL sets hosts, user, password, database, schema and encryption', (t) => {
  t.strictSame(loadConfig({ DATABASE_URL: 'postgres://ada@db/pets' }).database, {
    kind: 'postgres',
    hosts: [{ host: 'db', port: 5432 }],
    user: 'ada',
    password: undefined,
    database: 'pets',
    applicationName: 'petstore',
    schema: 'public',
    sslMode: 'disable',
    caFile: undefined,
    certFile: undefined,
    keyFile: undefined,
    sslNegotiation: 'postgres',
    isPrepared: undefined,
  });
  const tls =
    'sslmode=verify-full&sslrootcert=/etc/ca.pem&sslcert=/etc/own.pem&sslkey=/etc/own.key&sslnegotiation=direct';
  const options = `${tls}&schema=pet%20store&target_session_attrs=read-write`;
  const DATABASE_URL = `postgresql://a%40b:p%3Aw%2F@db-1:6432,[::1],%2Frun%2Fpg:5433/my%20pets?${options}`;
  t.strictSame(loadConfig({ DATABASE_URL }).database, {
    kind: 'postgres',
    hosts: [
      { host: 'db-1', port: 6432 },
      { host: '::1', port: 5432 },
      { host: '/run/pg', port: 5433 },
    ],
    user: 'a@b',
    password: 'p:w/',
    database: 'my pets',
    applicationName: 'petstore',
    schema: 'pet store',
    sslMode: 'verify-full',
    caFile: '/etc/ca.pem',
    certFile: '/etc/own.pem',
    keyFile: '/etc/own.key',
    sslNegotiation: 'direct',
    isPrepared: undefined,
  });
  t.end();
});

t.test(
  'if a key in API_KEYS is short or not a valid bearer token, the error names its position but not the key',
  (t) => {
    const API_KEYS =
      'a-good-key-0123456789,fifteen-letters,not a bearer token,ünicode-key-0123456789,=,key"-0123456789012';
    const problems = problemsOf({ API_KEYS });
    t.strictSame(problems, [
      '  - API_KEYS: key 2 is shorter than 16 characters',
      '  - API_KEYS: key 3 is not a bearer token (RFC 6750, section 2.1)',
      '  - API_KEYS: key 4 is not a bearer token (RFC 6750, section 2.1)',
      '  - API_KEYS: key 5 is shorter than 16 characters',
      '  - API_KEYS: key 5 is not a bearer token (RFC 6750, section 2.1)',
      '  - API_KEYS: key 6 is not a bearer token (RFC 6750, section 2.1)',
    ]);
    t.end();
  },
);

t.test('KEY_RATE and UNAUTHORIZED_RATE accept a rate such as 100/s, 60/m, 5000/h or 9/d, and none', (t) => {
  const rule = 'a number of requests per s, m, h or d, such as 100/s, or none';
  const right = ['none', '1/s', '60/m', '5000/h', '999999999/d'];
  const wrong = ['0/s', '1', '1/w', '1/2s', '-1/s', '1.5/s', '1 / s', '01/s', '1000000000/s', 'None'];
  for (const name of ['KEY_RATE', 'UNAUTHORIZED_RATE']) takes(t, name, rule, right, wrong);
  t.end();
});

t.test('TRUST_PROXY accepts IP addresses, CIDR ranges and unix, and rejects anything else', (t) => {
  const ofFour = ['10.1.2.3', '10.0.0.0/8,192.168.0.0/32'];
  const right = [...ofFour, '::1, fd00::/8', '::ffff:10.0.0.1/104', 'FE80::1/128,', 'unix,::1'];
  const ranges = ['10.0.0.0/0', '10.0.0.0/33', '10.0.0.0/8/8', '::/129', '::1 ::2', 'fe80::1%lo', '10.0.0.1, x'];
  const wrong = ['true', 'proxy', '1', '10.0.0', ...ranges];
  takes(t, 'TRUST_PROXY', 'addresses and ranges, such as 10.0.0.0/8,::1, or unix', right, wrong);
  t.end();
});

t.test('CORS_ORIGINS accepts origins as browsers send them, without a path, default port or wildcard', (t) => {
  const right = ['https://shop.example', 'http://localhost:5173, https://xn--bcher-kva.example,', ''];
  const wrong = [
    ...['*', 'null', 'shop.example', 'https://shop.example/', 'https://*.shop.example', 'https://Shop.example'],
    ...['https://shop.example:443', 'https://shop.example/app', 'ftp://shop.example'],
    'https://shop.example https://other.example',
  ];
  takes(
    t,
    'CORS_ORIGINS',
    'origins, such as https://shop.example,http://localhost:5173, without * and paths',
    right,
    wrong,
  );
  t.end();
});

t.test('setting WORKERS is an error that explains how to run several processes', (t) => {
  for (const WORKERS of ['1', '2', 'x']) {
    t.strictSame(problemsOf({ WORKERS }), [
      '  - WORKERS must be left out: a server is one process; for more cores run several servers on one PostgreSQL (node_modules/contract-first/operate/process/operators.md)',
    ]);
  }
  t.strictSame(problemsOf({ WORKERS: '' }), []);
  t.end();
});

t.test(
  'an unknown option in DATABASE_URL is an error that names it, and so is any PGSSL… environment variable',
  (t) => {
    const DATABASE_URL = 'postgres://ada@db/pets?shcema=pets';
    t.strictSame(problemsOf({ DATABASE_URL }), ['  - DATABASE_URL has an option that is not known: shcema']);
    const env = { PGSSLMODE: 'verify-full', PGSSLROOTCERT: '', PGREQUIREAUTH: 'x', PGUSER: 'ada' };
    const rule = 'is not read: say in DATABASE_URL how its connections are encrypted';
    t.strictSame(problemsOf({ ...env, DATABASE_URL: 'postgres://ada@db/pets' }), [
      `  - PGSSLMODE ${rule}`,
      `  - PGREQUIREAUTH ${rule}`,
    ]);
    t.strictSame(problemsOf(env), []);
    t.end();
  },
);

t.test('if an environment variable is misspelt, a warning names it and the right name, but not its value', (t) => {
  for (const [name, meant] of [
    ['HOSTS', 'HOST'],
    ['API_KEY', 'API_KEYS'],
    ['API_KEY_FILE', 'API_KEYS_FILE'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASEURL', 'DATABASE_URL'],
    ['HSOT', 'HOST'],
    ['port', 'PORT'],
    ['MAX_CREATE', 'MAX_CREATES'],
    ['NODE_EVN', 'NODE_ENV'],
  ] as const) {
    t.strictSame(loadConfig({ [name]: 'secret' }).warnings, [`${name} is not known: is ${meant} meant?`]);
    t.strictSame(loadConfig({ [name]: '' }).warnings, []);
  }
  const others = [
    'HOME',
    'PATH',
    'PWD',
    'SHELL',
    'USER',
    'HOSTNAME',
    'LANG',
    'TERM',
    'LOGNAME',
    'MAIL',
    'NODE_OPTIONS',
    'TAP_TIMEOUT',
  ];
  t.strictSame(loadConfig(Object.fromEntries(others.map((name) => [name, 'x']))).warnings, []);
  t.end();
});

t.test('API_KEYS_FILE and DATABASE_URL_FILE name files; if everybody can read such a file, the server warns', (t) => {
  const folder = t.testdir({
    keys: 'first-key-0123456789,second-key-0123456789\nthird-key-0123456789\r\n',
    empty: '\n',
  });
  writeFileSync(`${folder}/url`, 'sqlite:/srv/pets.db\n');
  for (const name of ['keys', 'empty', 'url']) chmodSync(`${folder}/${name}`, 0o640);
  const env = { API_KEYS_FILE: `${folder}/keys`, DATABASE_URL_FILE: `${folder}/url` };
  const { apiKeys, database, warnings } = loadConfig(env);
  t.strictSame(apiKeys, ['first-key-0123456789', 'second-key-0123456789', 'third-key-0123456789']);
  t.strictSame(database, { kind: 'sqlite', file: '/srv/pets.db' });
  t.strictSame(warnings, []);
  t.strictSame(loadConfig({ API_KEYS_FILE: `${folder}/empty` }).apiKeys, []);

  chmodSync(`${folder}/keys`, 0o644);
  t.strictSame(loadConfig(env).warnings, [`API_KEYS_FILE: ${folder}/keys can be read by everybody: chmod o-r`]);
  t.strictSame(problemsOf({ ...env, API_KEYS: 'fourth-key-0123456789' }), [
    '  - API_KEYS and API_KEYS_FILE are both set: leave one out',
  ]);
  t.match(problemsOf({ DATABASE_URL_FILE: `${folder}/none` }), [/^ {2}- DATABASE_URL_FILE cannot be read: ENOENT/]);
  t.strictSame(problemsOf({ API_KEYS_FILE: '/dev/zero' }), [
    '  - API_KEYS_FILE cannot be read: /dev/zero is not a file',
  ]);
  t.end();
});

t.test('config.md lists every environment variable with its default, in the order of the code', (t) => {
  const used = new Map<string, string>();
  loadConfig({}, used);
  const text = readFileSync(new URL('../../src/contract-first/operate/config.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]*)`|none) \|/gm)].map(([, name, value = '']) => [
    name,
    value.replace('<name>', 'petstore'),
  ]);
  t.strictSame(rows, [...used]);
  t.end();
});

t.test('the server listens on a socket that systemd passes to its process; two sockets are an error', (t) => {
  const LISTEN_PID = String(process.pid);
  t.equal(loadConfig({ LISTEN_PID, LISTEN_FDS: '1' }).socket, 3);
  t.equal(loadConfig({ LISTEN_PID: '1', LISTEN_FDS: '1' }).socket, undefined);
  t.strictSame(problemsOf({ LISTEN_PID, LISTEN_FDS: '2' }), [
    '  - LISTEN_FDS must be 1: one socket is listened on, not "2"',
  ]);
  t.end();
});

t.test('an OTEL_TRACES_SAMPLER_ARG that is not a ratio from 0 to 1 is ignored', (t) => {
  const ratioOf = (OTEL_TRACES_SAMPLER: string, OTEL_TRACES_SAMPLER_ARG: string) =>
    loadConfig({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }).traceRatio;
  for (const [text, ratio] of [
    ['0', 0],
    ['0.01', 0.01],
    [' 1 ', 1],
    ['', 1],
    ['2', undefined],
    ['-1', undefined],
    ['all', undefined],
  ] as const)
    t.equal(ratioOf('parentbased_traceidratio', text), ratio, text);
  t.equal(ratioOf('traceidratio', '0.5'), undefined);
  t.end();
});

t.test('TRUST_TRACES accepts IP addresses and CIDR ranges, and rejects anything else', (t) => {
  takes(t, 'TRUST_TRACES', 'addresses and ranges, such as 10.0.0.0/8,::1', ['10.0.0.0/8, ::1'], ['unix']);
  t.end();
});
