/**
 * Lints contracts by the rules in `lint/`. It reads files below a contract's folder only: a reference to another machine is an error,
 * not a request.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Config,
  createConfig,
  getLineColLocation,
  lint as lintFile,
  loadConfig,
  type NormalizedProblem,
  Source,
  YamlParseError,
} from '@redocly/openapi-core';
import { parse } from 'yaml';
import { checkOperations } from '../../contract/checks/checked-operations.ts';
import { toLocated } from '../../contract/located-problems.ts';
import { ContractFiles, checkFile } from '../../contract/read/bundle.ts';
import { loadContract } from '../../contract/read/load-contract.ts';
import { type ContractSource, mayBeInFiles, readSource } from '../../contract/read/source.ts';
import { ContractError } from '../../engine/contract/contract.ts';
import { lookUp } from '../../engine/schema/keys.ts';
import { toPrintable } from '../../json/literals.ts';
import { fromPointerToken, toPointerToken } from '../../json/pointer.ts';
import { findContract } from '../project.js';
import { loadTeamParts } from '../team-parts.ts';

const CONFIG = fileURLToPath(new URL('./redocly.yaml', import.meta.url));

/** For each file that breaks a rule its name, and a line for each problem; empty when there is none. Without files, the project's contract. */
export async function lint(...files: string[]): Promise<string> {
  const config = await loadConfig({ configPath: CONFIG });
  const own = await loadTeamParts();
  const reports: string[] = [];
  for (const ref of files.length > 0 ? files : [findContract()]) {
    try {
      checkFile(ref);
      const files = await Files.of(ref);
      const found = (await problemsOf(files, ref, config)).filter(isMeant);
      if (found.length > 0) reports.push(...toReports(found, files, ref));
      // Reports formats and defaults that the server would treat as annotations. A rule has judged the patterns.
      else checkOperations({ ...(await loadContract(ref)), isStrict: true }, { ...own, isLinear: true });
    } catch (error) {
      reports.push(`${ref}:\n${(await toLines(error as Error, ref)).join('')}`);
    }
  }
  return reports.join('');
}

/** The files of a contract: several are linted as the bundle that is served. */
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

  /** Where a problem stands. */
  toOrigin(location: Location): Location {
    const { bundle } = this.#source ?? {};
    if (!bundle) return location;
    const { file, keys } = bundle.originOf((location.pointer as string).split('/').slice(1).map(fromPointerToken));
    const source = new Source(file, readFileSync(file, 'utf8'));
    return { ...location, source, pointer: ['#', ...keys.map(toPointerToken)].join('/') };
  }
}

type Location = NormalizedProblem['location'][number];

/** Rules of Redocly for the operations that the server has. */
const OF_OURS =
  /^((rule\/)?operation-(2xx-response|4xx-response|id-casing|operationId|tag|tag-defined)|response-contains-header|security-defined)$/;

/** Rules of Redocly, and the positions where OpenAPI says otherwise. */
const UNLIKE: [rule: RegExp, position: RegExp][] = [
  // Webhooks and callbacks are operations of clients.
  [OF_OURS, /^#\/webhooks\/|\/callbacks\//],
  // The fields are described beside the alternatives: the server's check looks there, too.
  [/^no-required-schema-properties-undefined$/, /\/((any|one|all)Of|not|if|then|else|dependentSchemas)\//],
];

const isMeant = (problem: NormalizedProblem) =>
  !isName(problem) &&
  !UNLIKE.some(
    ([rule, position]) =>
      rule.test(problem.ruleId) && problem.location.some(({ pointer = '' }) => position.test(pointer)),
  );

/** Whether it takes a schema's name in the mapping of a discriminator for the path of a file (OpenAPI 3.1, section 4.8.25). */
function isName({ ruleId, location }: NormalizedProblem): boolean {
  const [{ source, pointer = '' }] = location as [Location];
  if (ruleId !== 'no-unresolved-refs' || !/\/discriminator\/mapping\/[^/]+$/.test(pointer)) return false;
  const document = parse(source.body);
  return lookUp(document, `#/components/schemas/${lookUp(document, pointer)}`) !== undefined;
}

/** A rule may fail at a part of a wrong kind: then the kinds alone are judged. */
async function problemsOf(externalRefResolver: Files, ref: string, config: Config): Promise<NormalizedProblem[]> {
  try {
    return await lintFile({ ref, config, externalRefResolver });
  } catch (error) {
    if (error instanceof YamlParseError) throw error;
    const kinds = await createConfig({ rules: { struct: 'error' } });
    const problems = await lintFile({ ref, config: kinds, externalRefResolver }).catch(() => []);
    if (problems.length > 0) return problems;
    // The server's words have a position.
    const serverError: unknown = await loadContract(ref).catch((reason) => reason);
    throw [serverError, error].find((one) => one instanceof Error);
  }
}

/** The lines for a contract that does not exist, is no YAML, or cannot be served. */
async function toLines(error: Error, file: string): Promise<string[]> {
  const isContractError = error instanceof ContractError;
  // A parser shows lines of the file behind its message.
  const lines = isContractError ? await toLocated(error.problems, file) : error.message.split('\n', 1);
  return lines.map((line) => `  ${toPrintable(line)}\n`);
}

/** For each file its name, and a line for each problem. */
function toReports(problems: NormalizedProblem[], files: Files, ref: string): string[] {
  const lines = new Map<string, string>();
  for (const {
    location: [found],
    severity,
    ruleId,
    message,
  } of problems) {
    const location = files.toOrigin(found as Location);
    const { start } = getLineColLocation(location);
    const name = join(dirname(ref), relative(dirname(resolve(ref)), location.source.absoluteRef));
    const line = `  ${start.line}:${start.col}  ${severity}  ${ruleId}  ${toPrintable(message)}\n`;
    lines.set(name, `${lines.get(name) ?? `${name}:\n`}${line}`);
  }
  return [...lines.values()];
}

/** The arguments are contracts; by default, the service's. Returns the exit code. */
export async function runLint(files: string[]): Promise<number> {
  const problems = await lint(...files);
  console.log(problems || 'The contract keeps every rule.');
  return Number(problems !== '');
}
