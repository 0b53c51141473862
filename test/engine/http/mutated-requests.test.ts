import { promisify } from 'node:util';
import t from 'tap';
import { startService } from '../../service.ts';
import { sendMutants } from './mutant-replies.ts';

/** `npm run test:deep` sends 20,000. */
const COUNT = Number(process.env.RUNS ?? 500);

t.test(
  `each of ${COUNT} damaged requests gets an Error body or another valid reply, or its connection is closed`,
  async (t) => {
    const lines: { level: number; reqId?: string; count?: number }[] = [];
    const log = { write: (line: string) => lines.push(JSON.parse(line)) };
    const { app, port, request } = await startService(t, { log, requestTimeout: 500 });
    const { statuses, ids, problems } = await sendMutants(port, 20261121, COUNT);
    t.strictSame(problems, []);
    t.ok((statuses[200] ?? 0) > COUNT / 5 && (statuses[400] ?? 0) > COUNT / 10, JSON.stringify(statuses));

    t.equal((await request('/livez')).status, 200);
    while ((await promisify(app.server.getConnections.bind(app.server))()) > 0) await new Promise(setImmediate);
    t.strictSame(
      lines.filter(({ level }) => level > 30),
      [],
    );
    await app.close();
    const logged = lines.flatMap(({ reqId }) => reqId ?? []);
    const known = new Set(logged);
    t.equal(known.size, logged.length, 'no request has two log lines');
    const counted = lines.reduce((sum, { count = 0 }) => sum + count, 0);
    const others = ids.filter((id) => !known.has(id));
    t.ok(others.length <= counted, `${others.length} have no line, and ${counted} are counted`);
  },
);
