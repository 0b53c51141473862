/** Checks the contract by Spectral's rules for OpenAPI (`spectral:oas`), too. */
import { readFileSync } from 'node:fs';
import core, { type RulesetDefinition } from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';

/** A line for each problem; empty when there is none. */
export async function lintBySpectral(file: string): Promise<string> {
  const spectral = new core.Spectral();
  // It takes scopes for OAuth only; OpenAPI 3.1 has them for every kind of key (section 4.8.30).
  const rules = { 'oas3-operation-security-defined': 'off' } as const;
  // Its own type has every part of a ruleset optional.
  spectral.setRuleset({ extends: [rulesets.oas as RulesetDefinition], rules });
  const found = await spectral.run(new core.Document(readFileSync(file, 'utf8'), parsers.Yaml, file));
  const lines = found.map(({ range, code, message }) => `  ${range.start.line + 1}  spectral/${code}  ${message}\n`);
  return lines.length > 0 ? `${file}:\n${lines.join('')}` : '';
}
