/**
 * The command `lint`: checks contracts by the rules of `redocly.yaml` in this folder and of a `redocly.yaml` next to
 * the contract. Reads only files in the contract's folder or below it. A reference to another machine is an error;
 * nothing is fetched.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import {
  type Config,
  createConfig,
  getLineColLocation,
  lint as lintFile,
  type NormalizedProblem,
  Source,
  YamlParseError,
} from '@redocly/openapi-core';
import { parse } from 'yaml';
import { checkOperations } from '../../contract/checks/checked-operations.ts';
import { findBrokenLinks } from '../../contract/checks/links.ts';
import { isOfErrors } from '../../contract/checks/server-errors.ts';
import { findUndeclared } from '../../contract/checks/server-replies.ts';
import { toLocated } from '../../contract/located-problems.ts';
import { ContractFiles } from '../../contract/read/bundle.ts';
import { checkFile } from '../../contract/read/file-references.ts';
import { loadContract } from '../../contract/read/load-contract.ts';
import { type ContractSource, mayBeInFiles, readSource } from '../../contract/read/source.ts';
import { ContractError, type ReadContract } from '../../engine/contract/contract.ts';
import type { ContractProblem } from '../../engine/schema/json.ts';
import { lookUp } from '../../engine/schema/keys.ts';
import { toPrintable } from '../../json/literals.ts';
import { fromPointerToken, toPointerToken } from '../../json/pointer.ts';
import { findContract } from '../project.js';
import { type LoadedParts, loadTeamParts } from '../team-parts.ts';
import { findUnservable, problemsThrownBy } from '../unservable.ts';
import { CONFIG, type LintRules, loadRules, VERSION } from './rules.ts';

/** The lines to print. `hasErrors` is true if one of them is an error. Warnings alone do not make the lint fail. */
interface LintResult {
  text: string;
  hasErrors: boolean;
}

/**
 * Lints these files. Without files, lints the project's contract. The text of the result contains the name of each file
 * with problems, and a line for each problem.
 */
export async function lint(files: string[] = [], { isRelease = false } = {}): Promise<LintResult> {
  const own = await loadTeamParts();
  const result: LintResult = { text: '', hasErrors: false };
  for (const ref of files.length > 0 ? files : [findContract()]) {
    try {
      checkFile(ref);
      const { text, hasErrors } = await lintContract(ref, await loadRules(dirname(ref), isRelease), own);
      result.text += text;
      result.hasErrors ||= hasErrors;
    } catch (error) {
      result.text += `${ref}:\n${(await toLines(error as Error, ref)).join('')}`;
      result.hasErrors = true;
    }
  }
  return result;
}

async function lintContract(ref: string, rules: LintRules, own: LoadedParts): Promise<LintResult> {
  const files = await Files.of(ref);
  const found = (await problemsOf(files, ref, rules.config)).filter(
    (problem) => isMeant(problem) && rules.counts(problem.ruleId, problem.severity),
  );
  const text = toReports(found, ref, (location) => files.toOrigin(location));
  const mistakes = toReports(rules.findMistakes(), ref);
  if (found.some(({ severity }) => severity === 'error')) return { text: text + mistakes, hasErrors: true };
  const contract = await loadContract(ref);
  const { ofContract } = findUnservable(contract, own);
  if (ofContract.length > 0) throw new ContractError(ofContract);
  const judged = await judgeOperations(contract, own, rules, ref);
  const name = text === '' && judged.text !== '' ? `${ref}:\n` : '';
  return { text: text + name + judged.text + mistakes, hasErrors: judged.hasErrors };
}

/**
 * Finds formats, keywords, defaults and required fields that the server ignores, because such a field may be misspelt.
 */
const findMeaningless = (contract: ReadContract, own: LoadedParts): ContractProblem[] =>
  problemsThrownBy(() => checkOperations({ ...contract, isStrict: true }, { ...own, isLinear: true })).filter(
    (problem) => !isOfErrors(problem),
  );

/**
 * Rules of this package that check operations as the server reads them, by name. `redocly.yaml` sets the severity of
 * each rule.
 */
const OF_OPERATIONS: Record<string, (contract: ReadContract, own: LoadedParts) => ContractProblem[]> = {
  'declared-replies': (contract, { domain }) => findUndeclared(contract, domain),
  links: findBrokenLinks,
  'strict-schemas': findMeaningless,
};

/**
 * Merges warnings with the same text. The merged warning is about the first operation, and ends with the number of
 * further operations or replies.
 */
function folded(warnings: ContractProblem[]): ContractProblem[] {
  const alike = new Map<string, ContractProblem[]>();
  for (const warning of warnings) {
    const words = warning.words.replace(/^operation \S+: (?:response \S+: )?/, '');
    alike.set(words, [...(alike.get(words) ?? []), warning]);
  }
  return [...alike.values()].map((all) => {
    const [{ words, pointer }, ...more] = all as [ContractProblem, ...ContractProblem[]];
    return { words: more.length > 0 ? `${words} (and ${more.length} more like it)` : words, pointer };
  });
}

async function judgeOperations(
  contract: ReadContract,
  own: LoadedParts,
  { config, counts }: LintRules,
  ref: string,
): Promise<LintResult> {
  const result: LintResult = { text: '', hasErrors: false };
  for (const [name, find] of Object.entries(OF_OPERATIONS)) {
    const rule = `contract-first/${name}`;
    const { severity } = config.styleguide.getRuleSettings(rule, VERSION);
    const problems = severity !== 'off' && counts(rule, severity) ? find(contract, own) : [];
    if (problems.length > 0 && severity === 'error') result.hasErrors = true;
    for (const line of await toLocated(severity === 'error' ? problems : folded(problems), ref))
      result.text += `  ${toPrintable(line).replace(': ', `  ${severity}  ${rule}  `)}\n`;
  }
  return result;
}

/**
 * Loads the files of a contract for Redocly. If the contract is in several files, loads the bundle that the server
 * sends.
 */
class Files extends ContractFiles {
  readonly #source: ContractSource | undefined;

  private constructor(contract: string, source?: ContractSource) {
    super(contract);
    this.#source = source;
  }

  static async of(contract: string): Promise<Files> {
    const isOne = !mayBeInFiles(readFileSync(contract, 'utf8'));
    return new Files(contract, isOne ? undefined : await readSource(contract));
  }

  protected override async load(file: string): Promise<Source> {
    const { bundle, yaml } = this.#source ?? {};
    return bundle ? new Source(file, String(yaml)) : super.load(file);
  }

  /** Converts a location in the bundle to the location of the same node in its own file. */
  toOrigin(location: Location): Location {
    const { bundle } = this.#source ?? {};
    if (!bundle) return location;
    const { file, keys } = bundle.originOf((location.pointer as string).split('/').slice(1).map(fromPointerToken));
    const source = new Source(file, readFileSync(file, 'utf8'));
    return { ...location, source, pointer: ['#', ...keys.map(toPointerToken)].join('/') };
  }
}

type Location = NormalizedProblem['location'][number];

/** Matches the names of Redocly's rules that apply only to operations that the server answers. */
const OF_OURS =
  /^((rule\/)?operation-(2xx-response|4xx-response|id-casing|operationId|tag|tag-defined)|response-contains-header|security-defined)$/;

/** Rules of Redocly that also report valid contracts, each with the JSON Pointers of the reports to ignore. */
const UNLIKE: [rule: RegExp, position: RegExp][] = [
  // The receivers of webhooks and callbacks answer these requests, so rules for the server's operations do not apply.
  [OF_OURS, /^#\/webhooks\/|\/callbacks\//],
  // A field that an alternative requires may be described outside of the alternative. Redocly does not look there, but
  // the server's own check does.
  [/^no-required-schema-properties-undefined$/, /\/((any|one|all)Of|not|if|then|else|dependentSchemas)\//],
];

const isMeant = (problem: NormalizedProblem) =>
  !isName(problem) &&
  !UNLIKE.some(
    ([rule, position]) =>
      rule.test(problem.ruleId) && problem.location.some(({ pointer = '' }) => position.test(pointer)),
  );

/**
 * True for a false report of Redocly: it has taken the name of a schema in the mapping of a discriminator for the path
 * of a file (OpenAPI 3.1, section 4.8.25).
 */
function isName({ ruleId, location }: NormalizedProblem): boolean {
  const [{ source, pointer = '' }] = location as [Location];
  if (ruleId !== 'no-unresolved-refs' || !/\/discriminator\/mapping\/[^/]+$/.test(pointer)) return false;
  const document = parse(source.body);
  return lookUp(document, `#/components/schemas/${lookUp(document, pointer)}`) !== undefined;
}

/** Runs Redocly's rules. A rule may throw at a value of a wrong type. Then only the rule that checks types is run. */
async function problemsOf(externalRefResolver: Files, ref: string, config: Config): Promise<NormalizedProblem[]> {
  try {
    return await lintFile({ ref, config, externalRefResolver });
  } catch (error) {
    if (error instanceof YamlParseError) throw error;
    const kinds = await createConfig({ rules: { struct: 'error' } }, { configPath: CONFIG });
    const problems = await lintFile({ ref, config: kinds, externalRefResolver }).catch(() => []);
    if (problems.length > 0) return problems;
    // Prefers an error of the server's own reader to the error of the rule, because the reader's error contains a
    // position.
    const serverError: unknown = await loadContract(ref).catch((reason) => reason);
    throw [serverError, error].find((one) => one instanceof Error);
  }
}

/** Returns the lines for a contract that does not exist, is not YAML, or cannot be served. */
async function toLines(error: Error, file: string): Promise<string[]> {
  const isContractError = error instanceof ContractError;
  // Prints only the first line of an error, because a parser also repeats lines of the file in its message.
  const lines = isContractError ? await toLocated(error.found, file) : error.message.split('\n', 1);
  return lines.map((line) => `  ${toPrintable(line)}\n`);
}

/** Returns the name of each file, followed by a line for each of its problems. */
function toReports(problems: NormalizedProblem[], ref: string, toOrigin = (location: Location) => location): string {
  const lines = new Map<string, string>();
  for (const {
    location: [found],
    severity,
    ruleId,
    message,
  } of problems) {
    const location = toOrigin(found as Location);
    const { start } = getLineColLocation(location);
    const name = join(dirname(ref), relative(dirname(resolve(ref)), location.source.absoluteRef));
    const line = `  ${start.line}:${start.col}  ${severity}  ${ruleId}  ${toPrintable(message)}\n`;
    lines.set(name, `${lines.get(name) ?? `${name}:\n`}${line}`);
  }
  return [...lines.values()].join('');
}

/**
 * Runs the command, and returns its exit code. `files` are the contracts to check. The default is the contract of the
 * project.
 */
export async function runLint(files: string[]): Promise<number> {
  const { text, hasErrors } = await lint(files);
  console.log(text || 'The contract keeps every rule.');
  return Number(hasErrors);
}
