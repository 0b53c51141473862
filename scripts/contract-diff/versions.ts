/** Version numbers (https://semver.org), and what a change demands of them. */
import type { Verdict } from './change.ts';

export type Version = [major: number, minor: number, patch: number];

/** Three numbers and nothing else: what is released has no pre-release. */
export function parseVersion(text: string): Version | undefined {
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(text)) return undefined;
  return text.split('.').map(Number) as Version;
}

/** Negative where the first is the lower one. */
export function compareVersions(one: Version, other: Version): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

/** The lowest version that such a change may have. */
export function toNextVersion([major, minor, patch]: Version, verdict: Verdict): Version {
  if (verdict === 'breaking') return [major + 1, 0, 0];
  return verdict === 'compatible' ? [major, minor + 1, 0] : [major, minor, patch + 1];
}
