import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { buildCoverage } from '../../scripts/test/coverage.ts';

t.test(
  'a process that is killed while it writes its coverage ends no run, and hides nothing of the others',
  async (t) => {
    const { folder, keep } = buildCoverage({ toSource: (url) => url.replace('/built/', '/') }).record();
    t.teardown(() => rmSync(dirname(folder), { recursive: true }));
    const script = { url: 'file:///built/src/main.js', functions: [] };
    const whole = JSON.stringify({
      result: [script, { url: 'node:fs' }, { url: 'file:///node_modules/pino/pino.js' }],
    });
    writeFileSync(join(folder, 'a-killed.json'), whole.slice(0, 40));
    writeFileSync(join(folder, 'b-killed.json'), '');
    writeFileSync(join(folder, 'c-whole.json'), whole);
    keep();
    const kept = readdirSync(dirname(folder)).map((name) =>
      JSON.parse(readFileSync(join(dirname(folder), name), 'utf8')),
    );
    const scripts = kept.flatMap(({ result }) => result);
    t.strictSame(scripts, [{ ...script, url: 'file:///src/main.js' }]);
  },
);
