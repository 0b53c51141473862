/** Compiles each example of the guide's records.md, and runs the examples on both databases. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'contract-first/fastify';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import type { Json } from './any-json.ts';
import { buildDiagnose } from './compiler.ts';
import { settingsOf, startPostgres } from './postgres.ts';
import { FILES, prepareTasks, SQL } from './records-page.ts';

type Send = (method: 'GET' | 'POST' | 'DELETE', url: string, body?: object, headers?: object) => Promise<Json>;

async function testProjects(t: Test, send: Send) {
  for (const [index, name] of ['House', 'Garden'].entries())
    t.match(await send('POST', '/projects', { name }), {
      status: 201,
      body: { id: index + 1, name, finished: undefined },
    });
  t.match(await send('POST', '/projects', { name: 'House' }), { status: 409, body: { code: 'name_taken' } });
  t.match((await send('GET', '/projects')).body, { projects: [{ name: 'Garden' }, { name: 'House' }], total: 2 });
  t.match((await send('GET', '/projects?page=2')).body, { projects: [], total: 2 });
}

async function testTasks(t: Test, send: Send) {
  const create = (title: string, more = {}, id = 1) => send('POST', `/projects/${id}/tasks`, { title, ...more });
  const made = await create('Mow', { priority: 1, dueAt: '2030-01-02T00:00:00Z' });
  t.match(made, {
    status: 201,
    headers: { location: `/v1/tasks/${made.body.id}` },
    body: { status: 'open', revision: 1 },
  });
  t.match(await create('Lost', {}, 9), { status: 404, body: { code: 'project_not_found' } });
  await create('Dig', { priority: 1 });
  await create('Rake', { priority: 1, dueAt: '2030-01-01T00:00:00Z' });
  const titles = async (query: string) =>
    (await send('GET', `/projects/1/tasks${query}`)).body.map((one: Json) => one.title);
  t.strictSame(await titles(''), ['Rake', 'Mow', 'Dig'], 'the record without a time is last');
  t.strictSame(await titles('?order=oldest'), ['Mow', 'Dig', 'Rake']);
  t.strictSame(await titles('?dueBefore=2030-01-01T12:00:00Z&status=open'), ['Rake']);
  t.match(await send('GET', '/projects/1/tasks?after=none'), { status: 400 });
  const { headers } = await send('GET', '/projects/1/tasks?limit=2');
  const [, next = ''] = /<\/v1([^>]*)>; rel="next"/.exec(headers.link) ?? [];
  t.match((await send('GET', next)).body, [{ title: 'Dig' }]);
  t.equal((await send('GET', '/projects/1/titles')).body, 'Mow\nDig\nRake\n');
  return made.body.id as string;
}

async function testTask(t: Test, send: Send, id: string) {
  const found = await send('GET', `/tasks/${id}`);
  t.match(found, { status: 200, headers: { etag: '"1"' }, body: { title: 'Mow' } });
  t.match(await send('GET', `/tasks/${id}`, undefined, { 'if-none-match': '"1"' }), { status: 304 });
  t.match(await send('GET', '/tasks/00000000-0000-4000-8000-000000000000'), {
    status: 404,
    body: { code: 'task_not_found' },
  });
  const finish = (key: string) => send('POST', `/tasks/${id}/finish`, undefined, { 'idempotency-key': key });
  t.match(await finish('one-key-of-mine'), { status: 200, body: { status: 'done', revision: 2 } });
  t.match(await finish('one-key-of-mine'), { status: 200, headers: { 'idempotency-replayed': 'true' } });
  t.match(await finish('another-key-of-mine'), { status: 409, body: { code: 'task_is_done' } });
  t.match(
    (await send('GET', '/projects')).body.projects,
    [{ name: 'House' }, { name: 'Garden' }],
    'the project with the most finished tasks is first',
  );
  const count = async (query: string) => (await send('GET', `/projects/1/totals${query}`)).body;
  t.strictSame(await count(''), [
    { status: 'done', count: 1 },
    { status: 'open', count: 2 },
  ]);
  t.strictSame(await count('?since=2999-01-01T00:00:00Z'), []);
  t.match(await send('DELETE', '/projects/1'), { status: 409, body: { code: 'project_has_tasks' } });
  t.match(await send('DELETE', '/projects/2'), { status: 204 });
}

async function testNotes(t: Test, send: Send) {
  t.match(await send('POST', '/notes', { text: 'Buy seeds' }, { authorization: 'Bearer red' }), { status: 204 });
  t.strictSame((await send('GET', '/notes', undefined, { authorization: 'Bearer red' })).body, ['Buy seeds']);
  t.strictSame((await send('GET', '/notes')).body, [], 'another team does not see it');
}

t.test(
  "the guide's page on records begins with a service of at most fifty lines; later examples have at most ten lines",
  (t) => {
    const lengths = FILES.map(([file, text]): [string, number] => [file, text.trimEnd().split('\n').length]);
    const [projects, tasks, handler, ...others] = lengths as [string, number][];
    t.match(
      [projects?.[0], tasks?.[0], handler?.[0]],
      ['src/projects/domain.ts', 'src/tasks/domain.ts', 'handlers/createTask.ts'],
    );
    t.ok((projects?.[1] ?? 99) + (tasks?.[1] ?? 99) + (handler?.[1] ?? 99) <= 50);
    t.strictSame(
      others.filter(([, length]) => length > 10),
      [],
    );
    t.end();
  },
);

t.test(
  "each example of the guide's page on records compiles, and works on both databases without handwritten SQL",
  async (t) => {
    const folder = prepareTasks(t);
    t.equal(readFileSync(join(folder, 'src/tasks/migrations/sqlite/0001-first.sql'), 'utf8'), SQL);
    const sources = ['src', 'handlers'].flatMap((part) =>
      readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' }).map((name) => join(part, name)),
    );
    const texts = Object.fromEntries(
      sources.filter((name) => name.endsWith('.ts')).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    );
    t.strictSame([...buildDiagnose()(Object.keys(texts), texts)], []);
    const { service } = await import(pathToFileURL(join(folder, 'dist/src/generated/service.js')).href);
    const server = await startPostgres(t);
    const databases = {
      SQLite: { kind: 'memory' } as const,
      PostgreSQL: { kind: 'postgres', ...settingsOf(server.newUrl()) } as const,
    };
    for (const [name, database] of Object.entries(databases)) {
      await t.test(`the service of the records page works on ${name}`, async (t) => {
        const log = { logger: pino({ level: 'silent' }), write() {} };
        const app = await build(service, { database }, { log });
        t.teardown(() => app.close());
        const send: Send = async (method, path, payload, headers = {}) => {
          const all = { authorization: 'Bearer blue', ...headers };
          const reply = await app.inject({ method, url: `/v1${path}`, headers: all, ...(payload && { payload }) });
          const isJson = /json/.test(String(reply.headers['content-type']));
          return { status: reply.statusCode, headers: reply.headers, body: isJson ? reply.json() : reply.body };
        };
        await testProjects(t, send);
        await testTask(t, send, await testTasks(t, send));
        await testNotes(t, send);
      });
    }
  },
);
