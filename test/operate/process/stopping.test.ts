import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pino } from 'pino';
import t from 'tap';
import { buildForcedEnd } from '../../../src/contract-first/operate/process/stopping.ts';

t.test('a process that does not stop in time is ended by force, and the log says so', async (t) => {
  const child = spawn('sleep', ['600']);
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => lines.push(line) });
  await buildForcedEnd(logger, child.pid as number)();
  t.strictSame(await once(child, 'exit'), [null, 'SIGKILL']);
  t.match(lines, [/"msg":"killed, because it had not stopped yet"/]);
});
