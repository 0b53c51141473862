/** Loads the rules of a lint: our own, which apply to every contract, and those of the team. */
import { fileURLToPath } from 'node:url';
import {
  type Config,
  findConfig,
  getConfig,
  lintConfig,
  loadConfig,
  type NormalizedProblem,
  SpecVersion,
} from '@redocly/openapi-core';
import { toPointerOf } from '../../json/pointer.ts';

export const CONFIG = fileURLToPath(new URL('./redocly.yaml', import.meta.url));
/**
 * The severities of rules are read for this version of OpenAPI, because Redocly's rules can have different severities
 * by version.
 */
export const VERSION = SpecVersion.OAS3_1;

export interface LintRules {
  config: Config;
  /** True if problems of this rule with this severity are printed. */
  counts: (rule: string, severity: string) => boolean;
  /**
   * Finds rules and settings in the team's `redocly.yaml` that do not exist. Call this function after the lint, because
   * the lint loads the rules.
   */
  findMistakes: () => NormalizedProblem[];
}

type ProcessConfig = NonNullable<NonNullable<Parameters<typeof loadConfig>[0]>['processRawConfig']>;

/**
 * Loads the rules. The rules of `redocly.yaml` in this folder apply to every contract. A `redocly.yaml` next to the
 * contract is read after them, so it may change them, and may load plugins. A release must only pass the rules that are
 * errors in this folder's file.
 */
export async function loadRules(folder: string, isRelease: boolean): Promise<LintRules> {
  const base = await loadConfig({ configPath: CONFIG });
  const isInvalidity = (rule: string) => base.styleguide.getRuleSettings(rule, VERSION).severity === 'error';
  const counts = (rule: string, severity: string) => !isRelease || (severity === 'error' && isInvalidity(rule));
  const configPath = findConfig(folder);
  if (!configPath) return { config: base, counts, findMistakes: () => [] };
  const { styleguide } = (await getConfig({ configPath })).rawConfig;
  const customExtends = [CONFIG, ...(styleguide?.extends ?? [])];
  let findMistakes: LintRules['findMistakes'] = () => [];
  const processRawConfig: ProcessConfig = async (parts) => {
    const problems = await lintConfig({ ...parts, severity: 'warn' });
    findMistakes = () => [...problems, ...findUnknownRules(parts)];
  };
  const config = await loadConfig({ configPath, customExtends, ...(!isRelease && { processRawConfig }) });
  return { config, counts, findMistakes: () => findMistakes() };
}

/**
 * Finds unknown rules with a name that begins with the name of a plugin. Redocly itself reports only unknown rules
 * without such a name.
 */
function findUnknownRules({ document, config }: Parameters<ProcessConfig>[0]): NormalizedProblem[] {
  const { source, parsed } = document;
  const unknown = config.styleguide.getUnusedRules().rules.filter((rule) => rule.includes('/'));
  return unknown.map((rule) => {
    const list = Object.keys(parsed).find((key) => /rules$/i.test(key) && rule in Object(parsed[key])) ?? '';
    const location = [{ source, pointer: `#${toPointerOf(list, rule)}`, reportOnKey: true }];
    return {
      ruleId: 'configuration spec',
      severity: 'warn',
      message: `There is no rule \`${rule}\`.`,
      location,
      suggest: [],
    };
  });
}
