/** Reply headers with characters that HTTP does not allow (RFC 9110, section 5.5). */
import t from 'tap';
import { operation, problemsOf, serve, withPaths } from '../../added-operations.ts';
import { edited, rename } from '../../edited-contract.ts';
import { connectRaw } from '../../raw-client.ts';
import { KEY, startService } from '../../service.ts';

const FAULTY = { 'beyond Latin-1': '宠物', CR: 'a\rb', LF: 'a\nb', 'CR and LF': 'a\r\nx-more: b', NUL: 'a\0b' };

const NOTE = { Note: { schema: { type: 'string' } } };
const NOTES = withPaths({
  '/notes': { get: operation('note', { responses: { '200': { headers: NOTE } } }) },
});

/** Sends a request. Returns the reply with its status line. */
async function ask(port: number, path: string) {
  const client = connectRaw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
  const [reply] = await client.replies(1);
  client.socket.destroy();
  return { ...reply, line: client.received().text.split('\r\n', 1)[0] };
}

const FAILED = {
  line: 'HTTP/1.1 500 Internal Server Error',
  text: /"code":"internal_error"/,
  headers: { 'x-request-id': /./, note: undefined, 'x-more': undefined },
};

t.test(
  'if a handler sets a header that HTTP cannot carry, the reply is a 500, and the log names the header',
  async (t) => {
    const log: string[] = [];
    let note = '';
    const note200 = () => ({ status: 200, body: {}, headers: { Note: note } });
    const { port } = await serve(t, NOTES, { note: note200 }, { log: { write: (line) => log.push(line) } });
    for (const [name, value] of Object.entries(FAULTY)) {
      note = value;
      t.match(await ask(port, '/v1/notes'), FAILED, name);
      t.match(log.join(''), /The header Note was answered with/, name);
      log.length = 0;
    }
    note = 'a\tb é';
    t.match(await ask(port, '/v1/notes'), { status: 200 });
  },
);

t.test(
  'if a plugin sets a header that HTTP cannot carry, the reply is a 500 that keeps all other headers',
  async (t) => {
    let value = '';
    const log: string[] = [];
    const { port } = await startService(t, {
      log: { write: (line) => log.push(line) },
      addPlugins: async (app) => {
        app.addHook('onRequest', async (_request, reply) => void reply.headers({ note: value, vary: 'origin' }));
      },
    });
    for (const [name, text] of Object.entries(FAULTY)) {
      value = text;
      for (const path of ['/v1/pets', '/v1/pets/1', '/nothing', '/docs', '/livez']) {
        const reply = await ask(port, path);
        t.match(reply, { ...FAILED, headers: { ...FAILED.headers, vary: 'origin' } }, `${name} ${path}`);
        t.match(log.join(''), /Invalid character in header content/, `${name} ${path}`);
        log.length = 0;
      }
    }
  },
);

for (const odd of ['/宠物', '/>; rel="next", <`', '/${open']) {
  t.test(
    `a path with characters that a URL cannot contain is percent-encoded in Location and Link: ${odd}`,
    async (t) => {
      const yaml = edited(({ contract, headers, listPets, getPet }) => {
        rename(contract.paths, '/pets', odd);
        rename(contract.paths, '/pets/{petId}', `${odd}/{petId}`);
        listPets.responses['200'].headers.Link.schema = { type: 'string' };
        headers.Successor.schema = { type: 'string' };
        getPet['x-successor'] = 'listPets';
      });
      const { request } = await serve(t, yaml, {});
      const path = `/v1${encodeURI(odd)}`;
      for (const id of [1, 2]) {
        const { status, headers } = await request(path, { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
        t.match({ status, headers }, { status: 201, headers: { location: `${path}/${id}` } });
      }
      t.match((await request(`${path}?limit=1`)).headers, { link: `<${path}?limit=1&after=` });
      t.match(await request(`${path}/2`), { status: 200, headers: { link: `<${path}>; rel="successor-version"` } });
    },
  );
}

t.test(
  'if the contract declares a reply header with an impossible name or value, the service does not start',
  async (t) => {
    const headers = {
      宠物: { schema: { type: 'string' } },
      'two words': { schema: true },
      Kind: { schema: { enum: ['a\tb é', 'cat', '猫'] } },
      Mark: { schema: { const: 'a\nb' } },
      Count: { schema: { enum: [1, 2] } },
    };
    const yaml = withPaths({ '/notes': { get: operation('note', { responses: { '200': { headers } } }) } });
    t.strictSame(await problemsOf(t, yaml), [
      'operation note: response 200: header 宠物: no header may have this name',
      'operation note: response 200: header two words: no header may have this name',
      'operation note: response 200: header Kind: no header may have the value "猫"',
      'operation note: response 200: header Mark: no header may have the value "a\\nb"',
    ]);
  },
);
