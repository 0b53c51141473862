/** The Prometheus queries of the alerts and the dashboard in `scripts/deploy`. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

export const alerts = (): Alert[] => parse(readFileSync('scripts/deploy/alerts.yaml', 'utf8')).groups[0].rules;

/** Returns all queries, with the dashboard's variables replaced by values. */
export function queries(): string[] {
  const { panels } = JSON.parse(readFileSync('scripts/deploy/dashboard.json', 'utf8'));
  const shown: { expr: string }[] = panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets);
  return [...alerts(), ...shown].map(({ expr }) =>
    expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'),
  );
}
