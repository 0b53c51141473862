/** Runs the examples of the README in a shell, unchanged and in their order, against a running service. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { KEY, startService } from './service.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

/**
 * Matches headers that differ with each reply, and headers that the README leaves out: those for browsers and for the
 * connection.
 */
const LEFT_OUT =
  /^(x-request-id|date|connection|keep-alive|content-length|cache-control|content-security-policy|x-content-type-options):/i;

t.test('each example of the README works, and prints what the README shows', async (t) => {
  const { port, request } = await startService(t);
  const blocks = [...README.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({ language, text }));
  const examples = blocks.slice(blocks.findIndex(({ text }) => text?.startsWith('KEY=')) + 1);
  t.strictSame(
    examples.map(({ language }) => language),
    ['sh', 'http', 'sh', 'http', 'sh', 'http', 'sh'],
  );
  let shown = '';
  for (const { language, text = '' } of examples) {
    if (language === 'http') {
      t.strictSame(toLines(shown), toLines(text));
    } else {
      const script = text.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`);
      const { stdout } = await promisify(execFile)('bash', ['-euc', script], { env: { PATH: process.env.PATH, KEY } });
      shown = stdout;
    }
  }
  t.equal(shown, '{"id":2,"name":"Mia","categoryId":7}', 'the command with an Idempotency-Key creates a pet');
  t.equal((await request('/v1/pets/3')).status, 404);
});

t.test('the README is at most 150 lines long', async (t) => {
  t.ok(README.split('\n').length <= 151);
});

/** Returns the lines of a reply in sorted order, with header names in lower case. */
function toLines(text: string): string[] {
  const lines = text.trim().split(/\r?\n/);
  return lines
    .filter((line) => !LEFT_OUT.test(line))
    .map((line) => line.replace(/^[\w-]+:/, (name) => name.toLowerCase()))
    .sort();
}
