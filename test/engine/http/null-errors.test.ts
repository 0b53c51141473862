import fastify from 'fastify';
import t from 'tap';
import { addNullErrors } from '../../../src/engine/http/null-errors.ts';

t.test(
  'a parser that throws, or rejects with, nothing has failed; one that answers, or calls back, has not',
  async (t) => {
    const app = fastify();
    t.teardown(() => app.close());
    const end = addNullErrors(app);
    app.addContentTypeParser('text/throws', { parseAs: 'string' }, () => {
      throw null;
    });
    app.addContentTypeParser('text/rejects', { parseAs: 'string' }, () => Promise.reject(undefined));
    app.addContentTypeParser('text/answers', { parseAs: 'string' }, async () => 1);
    app.addContentTypeParser('text/calls', { parseAs: 'string' }, (_request, _body, done) => done(null, 1));
    end();
    app.post('/', async ({ body }) => ({ body }));
    for (const [type, status] of Object.entries({ throws: 500, rejects: 500, answers: 200, calls: 200 })) {
      const { statusCode } = await app.inject({
        method: 'POST',
        url: '/',
        payload: 'a',
        headers: { 'content-type': `text/${type}` },
      });
      t.equal(statusCode, status, type);
    }
  },
);
