/**
 * Values that a plugin, a hook or a handler may throw: at each point of Fastify's life cycle, in each form, with each
 * status.
 */
import createError from '@fastify/error';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import t, { type Test } from 'tap';
import { KEY, type ReceivedReply, type Service, send, startService } from '../../service.ts';

/** The error code of each status. */
const CODES: Record<number, string> = {
  400: 'bad_request',
  401: 'unauthorized',
  402: 'payment_required',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  408: 'request_timeout',
  409: 'conflict',
  410: 'gone',
  411: 'length_required',
  412: 'precondition_failed',
  413: 'payload_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  416: 'range_not_satisfiable',
  417: 'expectation_failed',
  418: 'bad_request',
  421: 'misdirected_request',
  422: 'unprocessable_content',
  423: 'locked',
  424: 'failed_dependency',
  425: 'too_early',
  426: 'upgrade_required',
  428: 'precondition_required',
  429: 'rate_limited',
  431: 'headers_too_large',
  451: 'unavailable_for_legal_reasons',
  499: 'bad_request',
  500: 'internal_error',
  501: 'not_implemented',
  502: 'bad_gateway',
  503: 'unavailable',
  504: 'gateway_timeout',
  505: 'http_version_not_supported',
  507: 'insufficient_storage',
  511: 'internal_error',
};

/** The name of the form in which an error is thrown after `reply.code()`. Clients must not see its message. */
const BEHIND = 'an Error behind reply.code()';

const WORDS = 'The team says so.';
const withFields = (fields: object) => Object.assign(new Error(WORDS), fields);

/** The forms of errors that carry a status. */
const FORMS: Record<string, (status: number, reply: FastifyReply) => unknown> = {
  'an Error with statusCode': (statusCode) => withFields({ statusCode }),
  'an Error with status': (status) => withFields({ status }),
  'one of @fastify/error': (status) => new (createError('TEAM_SAYS_NO', WORDS, status))(),
  'one as http-errors makes them': (status) => withFields({ status, statusCode: status, expose: status < 500 }),
  'an object': (statusCode) => ({ statusCode, message: WORDS }),
  [BEHIND]: (status, reply) => {
    reply.code(status);
    return new Error(WORDS);
  },
};

const unreadable = (): never => {
  throw new Error('No.');
};

/** Thrown values without a valid status, which are a 500. */
const OTHERS: Record<string, unknown> = {
  'an Error': new Error('No.'),
  'a frozen Error': Object.freeze(new Error('No.')),
  'an Error with a status that is none': withFields({ statusCode: 302, status: 'gone' }),
  'an Error with a status beyond all': withFields({ statusCode: 600 }),
  'a text': 'No.',
  'an empty text': '',
  'a number': 0,
  'a bigint': 7n,
  'a symbol': Symbol('no'),
  'a function': () => 'No.',
  'an object that inherits nothing': Object.create(null),
  'a list': [1],
  null: null,
  undefined,
  'an Error that cannot be logged': Object.defineProperty(new Error('No.'), 'detail', {
    get: unreadable,
    enumerable: true,
  }),
  'an Error whose fields cannot be read': Object.defineProperty(new Error('No.'), 'statusCode', { get: unreadable }),
  'a proxy that cannot be read': new Proxy({}, { get: unreadable }),
};

const THROWN = 'x-thrown';
const PLACE = 'x-place';

type Raise = (request: FastifyRequest, reply: FastifyReply) => void;

/** The kinds of hooks, and the ways in which a hook may fail. */
const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'preSerialization', 'onSend'];
const WAYS = ['sync', 'done', 'async', 'send'];

/** Adds a hook that fails for requests that name it in the header x-place. */
function addHook(app: FastifyInstance, kind: string, way: string, raise: Raise): void {
  const isMeant = ({ headers }: FastifyRequest) => headers[PLACE] === `${kind} ${way}`;
  const thrown = (request: FastifyRequest, reply: FastifyReply): unknown => {
    try {
      raise(request, reply);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const hooks: Record<string, unknown> = {
    sync: (request: FastifyRequest, reply: FastifyReply, ...rest: unknown[]) => {
      if (isMeant(request)) raise(request, reply);
      (rest.at(-1) as () => void)();
    },
    async: async (request: FastifyRequest, reply: FastifyReply) => {
      if (isMeant(request)) raise(request, reply);
    },
    done: (request: FastifyRequest, reply: FastifyReply, ...rest: unknown[]) => {
      (rest.at(-1) as (error?: unknown) => void)(isMeant(request) ? thrown(request, reply) : undefined);
    },
    send: async (request: FastifyRequest, reply: FastifyReply) => {
      if (isMeant(request) && !reply.sent) return reply.send(thrown(request, reply));
      return undefined;
    },
  };
  app.addHook(kind as 'onRequest', hooks[way] as never);
}

/** True if a hook of this kind may call `reply.send`. Later hooks cannot, because the reply is already being sent. */
const isPossible = (kind: string, way: string) => way !== 'send' || !['preSerialization', 'onSend'].includes(kind);
const PLACES = HOOKS.flatMap((kind) =>
  WAYS.filter((way) => isPossible(kind, way)).map((way): [string, string] => [kind, way]),
);
const OWN_ROUTE = ['handler sync', 'handler async', 'handler send', 'serializer'];

interface Thrower extends Service {
  /** Sends a request during which the service throws a value at this place. */
  failing: (place: string, url: string, make: (reply: FastifyReply) => unknown) => Promise<ReceivedReply>;
  lines: string[];
}

async function startThrower(t: Test): Promise<Thrower> {
  const lines: string[] = [];
  let make: (reply: FastifyReply) => unknown = () => undefined;
  const raise: Raise = (_request, reply) => {
    throw make(reply);
  };
  const service = await startService(t, {
    keepAlive: true,
    log: { write: (line) => lines.push(line) },
    addPlugins: async (app) => {
      for (const [kind, way] of PLACES) addHook(app, kind, way, raise);
      app.get('/own', (request, reply) => {
        if (request.headers[PLACE] === 'handler sync') raise(request, reply);
        if (request.headers[PLACE] === 'handler async') return Promise.reject(make(reply));
        if (request.headers[PLACE] === 'handler send') reply.send(make(reply));
        else reply.serializer(() => raise(request, reply) as never).send({});
        return undefined;
      });
    },
  });
  const failing: Thrower['failing'] = (place, url, toThrow) => {
    make = toThrow;
    return service.request(url, { headers: { [PLACE]: place, [THROWN]: 'x' } });
  };
  return { ...service, failing, lines };
}

/** The URLs of the test: operations, one of them deprecated, an unknown path, a page, and a plugin's route. */
const URLS = ['/v1/pets', '/v1/pets/1', '/nothing', '/docs', '/own'];

/**
 * True if a request for a URL reaches a place. Without a route, only the first and last hooks run; the body of a page
 * is not serialized.
 */
const isReached = (place: string, url: string) =>
  url === '/nothing' ? /^(onRequest|onSend) /.test(place) : url !== '/docs' || !place.startsWith('preSerialization');

const places = (url: string): string[] => [
  ...PLACES.map(([kind, way]) => `${kind} ${way}`),
  ...(url === '/own' ? OWN_ROUTE : []),
];

/** Pairs each item of the first list with an item of the second, in turn, because all pairs would take a minute. */
const inTurn = <One, Other>(ones: One[], others: Other[]) =>
  ones.map((one, index): [One, Other] => [one, others[index % others.length] as Other]);

/**
 * True if a thrown value is an error at this place. A callback without an error continues the request. So does a
 * synchronous hook that throws null or undefined. `send` sends other values than errors as the reply. In an async hook,
 * any thrown value is an error.
 */
function isError(place: string, thrown: unknown): boolean {
  if (place.endsWith(' done')) return Boolean(thrown);
  if (place.endsWith(' sync') && !place.startsWith('handler')) return thrown != null;
  return !place.endsWith(' send') || thrown instanceof Error;
}

t.test(
  'if code anywhere in the service throws any value, the reply is a 500 with the request id and the Error body',
  async (t) => {
    const { failing, lines } = await startThrower(t);
    const all = URLS.flatMap((url) => places(url).map((place) => ({ url, place })));
    const kinds = Object.entries(OTHERS);
    const pairs = [
      ...inTurn(all, kinds),
      ...kinds.flatMap((kind, index) => inTurn(all.slice(index), [kind]).slice(0, 25)),
    ];
    let right = 0;
    for (const [{ url, place }, [kind, thrown]] of pairs) {
      if (!isReached(place, url) || !isError(place, thrown)) continue;
      lines.length = 0;
      const { status, text, headers } = await failing(place, url, () => thrown);
      const logged = lines.map((line) => JSON.parse(line)).find(({ level }) => level === 50);
      const isTold = logged?.err !== undefined && logged.reqId === headers['x-request-id'];
      if (status === 500 && text.includes('"internal_error"') && isTold) right++;
      else t.fail(`${kind}, ${place}, ${url}`, { status, text, logged });
    }
    t.ok(right > 350, `${right}`);
  },
);

const STATUSES = Object.entries(CODES).map(([status, code]) => ({ status: Number(status), code }));

t.test(
  'an error thrown by a plugin keeps its status and gets a code; clients see its message only for statuses below 500',
  async (t) => {
    const { failing, lines } = await startThrower(t);
    const forms = Object.keys(FORMS);
    const ones = [
      '/v1/pets/1 onRequest sync',
      '/v1/pets/1 preHandler async',
      '/v1/pets preParsing done',
      '/own handler sync',
    ];
    const others = ['/nothing onRequest done', '/own handler async', '/own serializer', '/docs onSend sync'];
    const spots = [...ones, ...others].map((text) => [text.replace(/ .*/, ''), text.replace(/^\S+ /, '')] as const);
    const tries = [
      ...spots.flatMap((place, index) =>
        inTurn(STATUSES, [...forms.slice(index % forms.length), ...forms]).map(([code, form]) => ({
          place,
          code,
          form,
        })),
      ),
      ...forms.flatMap((form) => inTurn(STATUSES, spots).map(([code, place]) => ({ place, code, form }))),
    ];
    let right = 0;
    for (const { place, code, form } of tries) {
      const [url, at] = place;
      // Skipped, because this hook also fails while the reply for its own error is sent.
      if (form === BEHIND && at.startsWith('onSend')) continue;
      lines.length = 0;
      const reply = await failing(at, url, (reply) => FORMS[form]?.(code.status, reply));
      const body = reply.body as Record<string, unknown>;
      const isLogged = lines.join('').includes(WORDS);
      const isTold = (body.message === WORDS) === (code.status < 500 && form !== BEHIND) && isLogged;
      if (reply.status === code.status && body.code === code.code && isTold) right++;
      else t.fail(`${code.status}, ${form}, ${at}, ${url}`, { ...reply, lines });
    }
    t.ok(right > 500, `${right}`);
  },
);

t.test(
  'an error reply keeps the headers of the thrown error, except those that describe a body or cannot be sent',
  async (t) => {
    const headers = {
      'X-Team': 'a',
      'x-request-id': 'team',
      'content-length': '3',
      'x-bad': 'a\nb',
      'retry-after': '9',
    };
    const { port } = await startService(t, {
      addPlugins: async (app) => {
        app.addHook('onRequest', async () => Promise.reject(withFields({ status: 409, headers })));
      },
    });
    const reply = await send(port, '/v1/pets/1');
    const kept = { 'x-team': 'a', 'x-request-id': /-/, 'x-bad': undefined, 'retry-after': '9', sunset: /./ };
    t.match(reply, { status: 409, text: /"conflict"/, headers: kept });
  },
);

t.test(
  "the server checks a request to a plugin's own route with the schema of that route, and sends Fastify's messages",
  async (t) => {
    const { request } = await startService(t, {
      addPlugins: async (app) => {
        const body = { type: 'object', required: ['name'] };
        app.post('/own', { schema: { body } }, () => ({}));
      },
    });
    const { status, body } = await request('/own', { method: 'POST', body: {} });
    t.match({ status, body }, { status: 400, body: { code: 'invalid_request', message: /required property 'name'/ } });
  },
);

t.test(
  'if a hook throws null, the server answers 500 instead of calling the handler, because the key was not checked',
  async (t) => {
    const lines: string[] = [];
    const { request } = await startService(t, {
      log: { write: (line) => lines.push(line) },
      addPlugins: async (app) => {
        app.addHook('onRequest', () => {
          throw null;
        });
      },
    });
    for (const key of [KEY, 'wrong', null]) {
      lines.length = 0;
      for (const options of [{ method: 'POST', body: { name: 'Rex', categoryId: 7 } }, {}]) {
        const { status, body } = await request('/v1/pets', { key, ...options });
        t.match({ status, body }, { status: 500, body: { code: 'internal_error' } });
      }
      t.match(lines[0], 'a hook threw null or undefined: the key was not checked');
    }
  },
);

t.test(
  'if a handler fails after it sent the head of a reply, the server cuts the reply off, so that the client notices',
  async (t) => {
    const { port } = await startService(t, {
      addPlugins: async (app) => {
        app.get('/own', (_request, { raw }) => {
          raw.writeHead(200).write('x');
          throw new Error('No.');
        });
      },
    });
    await t.rejects(fetch(`http://127.0.0.1:${port}/own`).then((response) => response.text()));
  },
);
