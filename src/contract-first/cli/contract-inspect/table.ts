/** The judgement of a contract as one table. */
import { toPrintable } from '../../json/literals.ts';
import type { Judgement, Row } from './judgement.ts';

/** How many operations are listed beside those that are refused. */
const MOST_SERVED = 20;

export function toTable({ rows: all, notes }: Judgement): string {
  const refused = all.filter(({ problems }) => problems.length > 0);
  const served = all.length - refused.length;
  const isLong = refused.length > 0 && served > MOST_SERVED;
  const rows = (isLong ? refused : all).map(printable);
  const widthOf = (column: (row: Row) => string) => Math.max(0, ...rows.map((row) => column(row).length));
  const [names, requests] = [widthOf(({ name }) => name), widthOf(({ request }) => request)];
  const toLines = ({ name, request, problems }: Row) => {
    const said = problems.map(({ problem, advice }) => `refused: ${problem}${advice ? `; change: ${advice}` : ''}`);
    return (said.length > 0 ? said : ['served']).map((text, index) => {
      const [first, second] = index === 0 ? [name, request] : ['', ''];
      return `${first.padEnd(names)}  ${second.padEnd(requests)}  ${text}`;
    });
  };
  const others = isLong ? [`The ${served} others are served.`] : [];
  const noted = notes.length > 0 ? ['', ...folded(notes).map((note) => toPrintable(`note: ${note}`))] : [];
  return [...rows.flatMap(toLines), ...others, ...noted, '', toEnd(refused, served)].join('\n');
}

/** A third party's names, paths and texts are in it. */
const printable = ({ name, request, problems }: Row): Row => ({
  name: toPrintable(name),
  request: toPrintable(request),
  problems: problems.map(({ problem, advice }) => ({ problem: toPrintable(problem), advice })),
});

function toEnd({ length: refused }: Row[], served: number): string {
  if (refused === 0) return `All of it is served: ${served} operation${served === 1 ? '' : 's'}.`;
  const next = `${refused} refused, ${served} served: change what is refused, and run it again.\n`;
  return `${served > 0 ? next : ''}What a contract may use: node_modules/contract-first/guide/features.md`;
}

/** A note that several operations share is told once. */
function folded(notes: string[]): string[] {
  const told = new Map<string, string[]>();
  for (const note of notes) {
    const words = note.replace(/^operation \S+: /, '');
    told.set(words, [...(told.get(words) ?? []), note]);
  }
  return [...told.values()].map(([note, ...more]) =>
    more.length > 0 ? `${note} (and ${more.length} more like it)` : (note as string),
  );
}
