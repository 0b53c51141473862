import t from 'tap';
import { descriptorsOf, untilDescriptors } from '../descriptors.ts';
import { sendMutants } from '../engine/http/mutant-replies.ts';
import { startServer } from '../program.ts';
import { addFigures } from './figures.ts';

const COUNT = 20_000;

t.test(`${COUNT} damaged requests leave the process as it was`, async (t) => {
  const { child, port, request, output, exit } = await startServer(t, { env: { REQUEST_TIMEOUT: '500' } });
  await request('/livez');
  const before = descriptorsOf(child);
  const { statuses, ids, problems } = await sendMutants(port, 42, COUNT);
  t.strictSame(problems, []);

  const after = await untilDescriptors(child, before);
  t.ok(after <= before, `${after} descriptors, ${before} before`);
  t.equal((await request('/livez')).status, 200);
  child.kill('SIGTERM');
  t.equal(await exit, 0);

  const lines = output.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.strictSame(
    lines.filter(({ level }) => level > 30),
    [],
  );
  const logged = lines.map(({ reqId }) => reqId).filter(Boolean);
  const known = new Set(logged);
  t.equal(known.size, logged.length, 'no request has two lines');
  t.strictSame(
    ids.filter((id) => !known.has(id)),
    [],
    'each has one',
  );
  const tally = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  addFigures(`${COUNT} damaged requests`, `${tally.join(', ')}; descriptors ${before} before, ${after} after`);
});
