/** The gate: may the contract become a release, given what it changes of the newest one? */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Change, Verdict } from './change.ts';
import { compareContracts } from './contracts.ts';
import { prefixesOf } from './servers.ts';
import { compareStoredPets } from './stored-pets.ts';
import { compareVersions, parseVersion, toNextVersion, type Version } from './versions.ts';

export interface Judgement {
  version: string;
  /** The newest release, which the contract was compared with. */
  released: string | undefined;
  changes: Change[];
  /** What may be the matter with the pets that are stored. */
  ofStoredPets: Change[];
  /** Why the contract may not be released; empty when it may. */
  problems: string[];
}

const VERDICTS: Verdict[] = ['breaking', 'compatible', 'documentation'];

/** `folder` has the releases, each under its version: `1.0.0.yaml`. */
export function judgeContract(file: string, folder: string, today = new Date()): Judgement {
  const yaml = readFileSync(file, 'utf8');
  const { info, servers } = parse(yaml);
  const version = parseVersion(info.version);
  const released = newestIn(folder);
  const judgement: Judgement = {
    version: info.version,
    released: released?.join('.'),
    changes: [],
    ofStoredPets: [],
    problems: [],
  };
  if (!version) judgement.problems.push(`info.version must be three numbers, as in 1.2.3, not ${info.version}.`);
  if (!released) return judgement;
  const before = readFileSync(resolve(folder, `${judgement.released}.yaml`), 'utf8');
  judgement.changes = compareContracts(before, yaml, today.toISOString().slice(0, 10));
  judgement.ofStoredPets = compareStoredPets(before, yaml);
  if (version) judgement.problems.push(...judgeVersion(version, released, judgement.changes, prefixesOf(servers)));
  return judgement;
}

function newestIn(folder: string): Version | undefined {
  const versions = readdirSync(folder).map((file) => parseVersion(basename(file, '.yaml')));
  return versions
    .filter((version) => version !== undefined)
    .sort(compareVersions)
    .at(-1);
}

function* judgeVersion(version: Version, released: Version, changes: Change[], prefixes: string[]): Generator<string> {
  const [is, was] = [version.join('.'), released.join('.')];
  if (compareVersions(version, released) < 0) yield `info.version ${is} is lower than ${was}, which is released.`;
  const worst = VERDICTS.find((verdict) => changes.some((change) => change.verdict === verdict));
  if (!worst) return;
  const least = toNextVersion(released, worst);
  const nature = worst === 'documentation' ? 'changes of the documentation' : `${worst} changes`;
  if (compareVersions(version, least) < 0) {
    yield `After ${was}, ${nature} need the version ${least.join('.')}, not ${is}.`;
  }
  const prefix = `/v${Math.max(version[0], least[0])}`;
  if (worst === 'breaking' && prefixes.join() !== prefix) {
    yield `After ${was}, breaking changes need the path prefix ${prefix} in servers, not ${prefixes.join(', ')}.`;
  }
}
