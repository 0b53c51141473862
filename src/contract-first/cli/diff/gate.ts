/** Decides whether a contract may be released, by its changes since the newest release, and writes the report. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { toLocated } from '../../contract/located-problems.ts';
import { readSource } from '../../contract/read/source.ts';
import { ContractError } from '../../engine/contract/contract.ts';
import type { Document } from '../../engine/contract/document.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';
import { toPrintable } from '../../json/literals.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { findContract } from '../project.js';
import { compareContracts, compareStoredRecords, prefixesOf } from './contracts.ts';
import type { ContractChange, Effect } from './rules.ts';

export interface Comparison {
  version: string;
  /** The version of the newest release, which the contract was compared with. Undefined before the first release. */
  released: string | undefined;
  changes: ContractChange[];
  /** The changes of schemas that may make stored records invalid. */
  ofStoredRecords: ContractChange[];
  /** The reasons why the contract must not be released. Empty if it may be released. */
  problems: string[];
}

/**
 * Matches a version of three numbers (https://semver.org). Pre-release versions do not match, because they cannot be
 * released.
 */
const VERSION = /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/;
const VERDICTS: Effect['verdict'][] = ['breaking', 'compatible', 'documentation'];

const compareVersions = (one: string, other: string) => one.localeCompare(other, 'en', { numeric: true });

/**
 * Returns the contract and the folder of releases: those on the command line, or those of the project.
 * @throws ProjectError for a project without a contract
 */
export function filesToCompare([
  contract = findContract(),
  folder = join(dirname(findContract()), 'released'),
]: string[]): [contract: string, folder: string] {
  return [contract, folder];
}

/** Reads a contract with its integers as `bigint`. As doubles, two different large integers could be equal. */
async function read(file: string): Promise<Document> {
  let contract: Document | null;
  try {
    contract = parseWithBigints((await readSource(file)).json) as Document | null;
  } catch (error) {
    if (!(error instanceof ContractError)) throw new Error(`${file} cannot be read: ${(error as Error).message}`);
    throw new Error((await toLocated(error.found, file)).join('\n'));
  }
  if (typeof contract?.info?.version === 'string' && contract.paths) return contract;
  throw new Error(`${file} is not a contract: it has no info.version, or no paths.`);
}

/**
 * Compares the contract with its newest release. `folder` contains the releases, each named by its version:
 * `1.0.0.yaml`. The folder may be missing before the first release. `domain` contains the descriptions of the stored
 * collections.
 * @throws Error with the name of a file that is not a contract
 */
export async function judgeContract(
  file: string,
  folder: string,
  domain: AnyDomain,
  today = new Date(),
): Promise<Comparison> {
  const contract = await read(file);
  const { version } = contract.info;
  const versions = (existsSync(folder) ? readdirSync(folder) : []).map((name) => name.replace(/\.yaml$/, ''));
  const released = versions
    .filter((name) => VERSION.test(name))
    .toSorted(compareVersions)
    .at(-1);
  const judgement: Comparison = { version, released, changes: [], ofStoredRecords: [], problems: [] };
  const before = released === undefined ? undefined : await read(resolve(folder, `${released}.yaml`));
  if (before) {
    judgement.changes = compareContracts(before, contract, today.toISOString().slice(0, 10));
    judgement.ofStoredRecords = compareStoredRecords(before, contract, domain);
  }
  if (!VERSION.test(version)) {
    judgement.problems.push(`info.version must be three numbers, as in 1.2.3, not ${version}.`);
  } else if (before) {
    const [old, now] = [before, contract].map(({ servers }) => prefixesOf(servers).join(', ')) as [string, string];
    judgement.problems.push(...judgeVersion(released as string, version, judgement.changes, old, now));
  }
  return judgement;
}

/** Returns the path prefix of a version: `/v1` for 1.2.3. */
const toPrefix = (version: string) => `/v${version.split('.', 1)}`;

function* judgeVersion(
  released: string,
  version: string,
  changes: ContractChange[],
  oldPrefix: string,
  prefix: string,
): Generator<string> {
  if (compareVersions(version, released) < 0) {
    yield `info.version ${version} is lower than ${released}, which is released.`;
  }
  const worst = VERDICTS.find((verdict) => changes.some(({ effect }) => effect.verdict === verdict));
  if (!worst) return;
  const least = toNextVersion(released, worst);
  const nature = worst === 'documentation' ? 'changes of the documentation' : `${worst} changes`;
  if (compareVersions(version, least) < 0) {
    yield `After ${released}, ${nature} need the version ${least}, not ${version}.`;
  }
  const major = toPrefix([version, least].toSorted(compareVersions).at(-1) as string);
  // Only a path prefix that names the major version must change with it. A prefix without the version may stay.
  if (worst === 'breaking' && oldPrefix === toPrefix(released) && prefix !== major) {
    yield `After ${released}, breaking changes need the path prefix ${major} in servers, not ${prefix}.`;
  }
}

/** Returns the lowest version for a release after `version`, if its worst change has this verdict. */
function toNextVersion(version: string, verdict: Effect['verdict']): string {
  const [major, minor, patch] = version.split('.').map(Number) as [number, number, number];
  if (verdict === 'breaking') return `${major + 1}.0.0`;
  return verdict === 'compatible' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

const HEADINGS = {
  breaking: 'Breaking:',
  compatible: 'Compatible:',
  documentation: 'Compatible (documentation):',
};

/** Writes the report for a reviewer. A change is listed only once, with all locations where it occurs. */
export function renderComparison({ version, released, changes, ofStoredRecords, problems }: Comparison): string {
  const lines = [released ? `Version ${version}, compared with the released ${released}:` : 'Nothing is released yet.'];
  for (const [verdict, heading] of Object.entries(HEADINGS)) {
    const ours = changes.filter(({ effect }) => effect.verdict === verdict);
    if (ours.length > 0) lines.push('', heading, ...toLines(ours));
  }
  if (ofStoredRecords.length > 0) {
    lines.push('', 'Stored data is affected (a start with records that do not fit refuses, and counts them):');
    for (const { location, what } of ofStoredRecords) lines.push(`  ${location}`, `      ${what}`);
  }
  if (problems.length > 0) lines.push('', 'Refused:', ...problems.map((problem) => `  ${problem}`));
  else if (version === released) lines.push('  no change.');
  else lines.push('', `It may be released as ${version}.`);
  return lines.map(toPrintable).join('\n');
}

function toLines(changes: ContractChange[]): string[] {
  const byText = new Map<string, string[]>();
  for (const { location, what, effect } of changes) {
    const text = `      ${what}. ${effect.why}`;
    byText.set(text, [...(byText.get(text) ?? []), `  ${location}`]);
  }
  return [...byText].flatMap(([text, locations]) => [...new Set(locations), text]);
}
