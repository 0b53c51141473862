/** A team's services: the objects besides the store that its handlers use. */
import { pino } from 'pino';
import t from 'tap';
import { buildIsReady } from '../src/contract-first/engine/http/health.ts';
import type { AnyContext } from '../src/contract-first/engine/routes/handler.ts';
import { buildCheckServices, type Settings } from '../src/contract-first/engine/services.ts';
import { checkStart } from '../src/contract-first/operate/commands/check.ts';
import { handlers } from '../src/generated/handlers.ts';
import { service } from '../src/generated/service.ts';
import { loadConfig } from './config.ts';
import { openUrl } from './database.ts';
import { holdClock } from './held-clock.ts';
import { startProgram } from './program.ts';
import { KEY, send, startService } from './service.ts';

const SETTINGS = {
  PAYMENTS_URL: { kind: 'text', rule: 'a URL', fits: (text: string) => URL.canParse(text) },
  PAYMENTS_KEY: { kind: 'secret' },
  PAYMENTS_TIMEOUT: { kind: 'integer', fallback: 1000, least: 1, most: 60_000 },
} as const satisfies Settings;

const URL_SET = { PAYMENTS_URL: 'https://pay.example/', PAYMENTS_KEY: 'secret-of-payments' };

t.test(
  "the settings of a team's services are read and checked together with the server's settings, and have types",
  async (t) => {
    const { services } = loadConfig(URL_SET, new Map(), SETTINGS);
    const url: string = services.PAYMENTS_URL;
    const timeout: number = services.PAYMENTS_TIMEOUT;
    t.strictSame({ url, timeout }, { url: URL_SET.PAYMENTS_URL, timeout: 1000 });
    t.throws(() => loadConfig({ PAYMENTS_URL: 'no', PAYMENTS_TIMEOUT: '0', PORT: 'x' }, new Map(), SETTINGS), {
      message:
        /PAYMENTS_URL must be a URL\n.*PAYMENTS_KEY must be set\n.*PAYMENTS_TIMEOUT must be an integer from 1 to 60000, not "0"/s,
    });
  },
);

t.test('a program builds its services from their settings, and its plugins get the services', async (t) => {
  const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS: KEY, GREETING: 'hello' };
  const program = startProgram(t, 'test/whole-service.ts', { env });
  const [, port] = await program.written('stdout', /"origin":"http:[^"]*:(\d+)"/);
  const { status, headers } = await send(Number(port), '/readyz');
  t.match({ status, headers }, { status: 200, headers: { greeting: 'hello' } });
  const version = startProgram(t, 'test/whole-service.ts', { args: ['--version'] });
  t.equal(await version.exit, 0);
  t.equal(version.output.stdout, '2.0.0\n');
  const wrong = startProgram(t, 'test/whole-service.ts', { env: { DATABASE_URL: 'sqlite::memory:' } });
  t.equal(await wrong.exit, 1);
  t.match(wrong.output.stderr, '  - GREETING must be set\n');
});

t.test("`--check` prints the settings of a team's services, without secrets", async (t) => {
  const lines: string[] = [];
  await checkStart({ ...URL_SET, DATABASE_URL: 'sqlite::memory:' }, (line) => lines.push(line), {
    ...service,
    settings: SETTINGS,
  });
  t.match(lines.join('\n'), '  PAYMENTS_URL=https://pay.example/\n  PAYMENTS_KEY=***\n  PAYMENTS_KEY_FILE=\n');
  t.notMatch(lines.join('\n'), URL_SET.PAYMENTS_KEY);
});

t.test(
  "handlers get the team's services; /readyz checks them; a stopping server closes them after the last reply",
  async (t) => {
    const asked: string[] = [];
    const payments = {
      charge: async () => asked.push('charge'),
      check: async () => asked.push('check'),
      close: async () => asked.push('close'),
    };
    const services = { payments, rate: 7, none: null };
    const { app, request } = await startService(t, {
      services,
      handlers: {
        ...handlers,
        listPets: async (call: AnyContext) => {
          await (call.services as unknown as typeof services).payments.charge();
          return { status: 200, body: [] };
        },
      },
    });
    t.equal((await request('/v1/pets')).status, 200);
    t.equal((await request('/readyz')).status, 200);
    t.strictSame(asked, ['charge', 'check']);
    await app.close();
    t.strictSame(asked, ['charge', 'check', 'close']);
  },
);

t.test("if a team's service fails or does not answer, /readyz is 503, and the log names the service", async (t) => {
  const checks = {
    fails: async () => Promise.reject(new Error('refused')),
    throws: () => {
      throw new Error('thrown');
    },
  };
  for (const [name, check] of Object.entries(checks)) {
    let text = '';
    const log = { write: (line: string) => (text += line) };
    const { request } = await startService(t, { log, services: { [name]: { check } } });
    const { status, body } = await request('/readyz');
    t.match({ status, body }, { status: 503, body: { code: 'unavailable' } });
    t.match(text, `the service ${name} cannot be used`);
  }
  await t.rejects(buildCheckServices({ slow: { check: () => new Promise(() => {}) } }, 10)(), {
    cause: { cause: { message: 'it does not answer in time' } },
  });
});

t.test(
  'under a flood of /readyz requests, each service is checked once a second, and every request gets that result',
  async (t) => {
    const clock = holdClock(t);
    let asked = 0;
    let answer = () => {};
    let answered: Promise<unknown> = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const check = () => {
      asked++;
      return answered;
    };
    const [store, services] = [openUrl('sqlite::memory:'), { payments: { check }, mail: {} }];
    // The port for operators also calls this check.
    const isReady = buildIsReady(store, services, pino({ level: 'silent' }));
    const { request } = await startService(t, { store, services, isReady });
    const ask = async () => (await request('/readyz', { key: null })).status === 200;
    const flood = async () => [
      ...new Set(await Promise.all([isReady(), ...Array.from({ length: 50 }, ask), isReady()])),
    ];

    const first = flood();
    await request('/livez');
    answer();
    t.strictSame([await first, asked], [[true], 1], 'requests that arrive during a check get its result');
    answered = Promise.reject(new Error('away'));
    answered.catch(() => {});
    clock.pass(999);
    t.strictSame([await flood(), asked], [[true], 1], 'the result is used for a second');
    clock.pass(1);
    t.strictSame(
      [await flood(), await flood(), asked],
      [[false], [false], 2],
      'a bad result is also used for a second',
    );
    answered = Promise.resolve();
    clock.pass(1000);
    t.strictSame([await flood(), asked], [[true], 3]);
  },
);
