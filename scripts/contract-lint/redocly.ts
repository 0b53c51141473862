/** The rules in `openapi/lint`: which of Redocly's, and our own. */
import { fileURLToPath } from 'node:url';
import { getLineColLocation, lint, lintConfig, loadConfig, type NormalizedProblem } from '@redocly/openapi-core';

const CONFIG = new URL('../../openapi/lint/redocly.yaml', import.meta.url);

/** For each file a line for each problem; empty when there is none. */
export async function lintByRedocly(...files: string[]): Promise<string> {
  const config = await loadConfig({ configPath: fileURLToPath(CONFIG) });
  const wrongRules = await lintConfig({ config, severity: 'error' });
  const reports: string[] = [];
  for (const file of files) {
    try {
      const found = [...wrongRules, ...(await lint({ ref: file, config }))];
      if (found.length > 0) reports.push(`${file}:\n${found.map(toLine).join('')}`);
    } catch (error) {
      // It is not there, or it is no YAML.
      reports.push(`${file}:\n  ${(error as Error).message}\n`);
    }
  }
  return reports.join('');
}

function toLine({ location, severity, ruleId, message }: NormalizedProblem): string {
  const [{ start }] = location.map(getLineColLocation) as [ReturnType<typeof getLineColLocation>];
  return `  ${start.line}:${start.col}  ${severity}  ${ruleId}  ${message}\n`;
}
