/** Writes the gate's findings for a reviewer: each change once, with all the places that show it. */
import { toPrintable } from '../../json/literals.ts';
import type { Change } from './change.ts';
import type { Judgement } from './gate.ts';

const HEADINGS = {
  breaking: 'Breaking:',
  compatible: 'Compatible:',
  documentation: 'Compatible (documentation):',
};

export function toReport({ version, released, changes, ofStoredRecords, problems }: Judgement): string {
  const lines = [released ? `Version ${version}, compared with the released ${released}:` : 'Nothing is released yet.'];
  for (const [verdict, heading] of Object.entries(HEADINGS)) {
    const ours = changes.filter(({ effect }) => effect.verdict === verdict);
    if (ours.length > 0) lines.push('', heading, ...toLines(ours));
  }
  if (ofStoredRecords.length > 0) {
    lines.push('', 'Stored data is affected (a start with records that do not fit refuses, and counts them):');
    for (const { place, what } of ofStoredRecords) lines.push(`  ${place}`, `      ${what}`);
  }
  if (problems.length > 0) lines.push('', 'Refused:', ...problems.map((problem) => `  ${problem}`));
  else if (version === released) lines.push('  no change.');
  else lines.push('', `It may be released as ${version}.`);
  return lines.map(toPrintable).join('\n');
}

function toLines(changes: Change[]): string[] {
  const byText = new Map<string, string[]>();
  for (const { place, what, effect } of changes) {
    const text = `      ${what}. ${effect.why}`;
    byText.set(text, [...(byText.get(text) ?? []), `  ${place}`]);
  }
  return [...byText].flatMap(([text, places]) => [...new Set(places), text]);
}
