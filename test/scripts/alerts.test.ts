import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { buildCatalogue } from '../../src/contract-first/engine/errors/catalogue.ts';
import { Counts } from '../../src/contract-first/engine/http/log/request-log.ts';
import { domain } from '../../src/generated/domain.ts';
import { alerts, queries } from '../deployed-queries.ts';
import { startServer } from '../program.ts';
import { send } from '../service.ts';

t.test('each alert has a section in the runbook, and each section of the runbook has an alert', (t) => {
  const runbook = readFileSync('scripts/deploy/runbook.md', 'utf8');
  const parts = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name as string);
  t.strictSame(
    alerts().map(({ alert }) => alert),
    parts,
  );
  for (const { alert, annotations, labels } of alerts()) {
    t.equal(annotations.runbook, `runbook.md#${alert.toLowerCase()}`);
    t.match(labels.severity, /^(page|ticket)$/, alert);
  }
  for (const [, named] of runbook.matchAll(/see (Petstore\w+)/g)) t.ok(parts.includes(named as string), `${named}`);
  t.end();
});

t.test('/metrics reports each metric that an alert or the dashboard uses', async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, ADMIN_PORT: '0' };
  const { written } = await startServer(t, { env, isCovered: true });
  const [, port] = await written('stdout', /"admin":"http:\/\/127\.0\.0\.1:(\d+)"/);
  const { text } = await send(Number(port), '/metrics', { key: null });
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  for (const query of queries()) {
    const names = [...query.matchAll(/\b([a-z]\w+)\{/g)].map(([, name]) => name as string);
    t.ok(names.length > 0, query);
    for (const name of names)
      t.ok(name === 'up' || known.has(name) || known.has(name.replace(/_(bucket|sum|count)$/, '')), name);
  }
});

t.test('the server can produce each label value that an alert or the dashboard uses', (t) => {
  const values: Record<string, readonly string[]> = {
    error_type: Object.keys(buildCatalogue(domain)),
    reason: Object.keys(new Counts().dropped),
  };
  const asked = queries().flatMap((query) => [...query.matchAll(/(\w+)=~?"([^"]*)"/g)]);
  for (const [, label, value] of asked as unknown as [string, string, string][])
    if (values[label])
      for (const one of value.split('|')) t.ok(one === '' || values[label].includes(one), `${label} ${one}`);
  t.ok(asked.some(([, label]) => label === 'error_type') && asked.some(([, label]) => label === 'reason'));
  t.end();
});

t.test('no two panels of the dashboard share a title, and Prometheus accepts the file of alerts', (t) => {
  const { panels } = JSON.parse(readFileSync('scripts/deploy/dashboard.json', 'utf8'));
  t.equal(new Set(panels.map(({ title }: { title: string }) => title)).size, panels.length);
  const { groups } = parse(readFileSync('scripts/deploy/alerts.yaml', 'utf8'));
  t.strictSame([...new Set(groups[0].rules.flatMap(Object.keys))].sort(), [
    'alert',
    'annotations',
    'expr',
    'for',
    'labels',
  ]);
  t.end();
});
