import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { notifySystemd } from '../../../src/contract-first/operate/process/watchdog.ts';

t.test('systemd is notified that the event loop turns, where it asks for that', async (t) => {
  const folder = t.testdir({ 'systemd-notify': '#!/bin/sh\necho "$@" >> "$(dirname "$0")/notified"\n' });
  chmodSync(`${folder}/systemd-notify`, 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${folder}:${PATH}`;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  t.equal(notifySystemd({}), undefined);
  const timer = notifySystemd({ WATCHDOG_USEC: '600000' });
  while (!existsSync(`${folder}/notified`)) await wait(20);
  clearInterval(timer);
  t.match(readFileSync(`${folder}/notified`, 'utf8'), /^WATCHDOG=1$/m);
});
