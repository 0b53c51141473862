/** The judgement of a contract as one table. */
import type { Judgement, Row } from './judgement.ts';

export function toTable({ rows, notes }: Judgement): string {
  const widthOf = (column: (row: Row) => string) => Math.max(0, ...rows.map((row) => column(row).length));
  const [names, requests] = [widthOf(({ name }) => name), widthOf(({ request }) => request)];
  const toLines = ({ name, request, problems }: Row) => {
    const said = problems.map(({ problem, advice }) => `refused: ${problem}${advice ? `; change: ${advice}` : ''}`);
    return (said.length > 0 ? said : ['served']).map((text, index) => {
      const [first, second] = index === 0 ? [name, request] : ['', ''];
      return `${first.padEnd(names)}  ${second.padEnd(requests)}  ${text}`;
    });
  };
  const refused = rows.filter(({ problems }) => problems.length > 0).length;
  const served = rows.length - refused;
  const end =
    refused === 0 ? `All of it is served: ${served} operations.` : 'What a contract may use: openapi/features.md';
  const noted = notes.length > 0 ? ['', ...notes.map((note) => `note: ${note}`)] : [];
  return [...rows.flatMap(toLines), ...noted, '', end].join('\n');
}
