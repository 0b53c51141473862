/** The chart of the README, as SVG: requests per second as multiples of constant text, in bars. */
import { type Results, type Spread, spread } from './figures.ts';
import { PEER_LINES, toLines } from './lines.ts';
import type { Plan } from './rounds.ts';
import { SERVERS } from './servers.ts';
import { isOfReads } from './workloads.ts';

const TITLE = 'Requests per second, constant text from node:http being 1';
const WIDTH = 960;
const HEIGHT = 440;
const PLOT = { left: 44, right: WIDTH - 16, top: 124, bottom: HEIGHT - 86 };
const BAR = 18;
/** The distance from one bar of a group to the next. */
const STEP = 23;

/** A card of its own, so that it can be read on any page; its colours follow the reader's preference. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 18px; font-weight: 600 }
  .strong { font-size: 13px; font-weight: 600 }
  .weak { font-size: 11px; fill: #59636e }
  .card { fill: #fff; stroke: #d1d9e0 }
  .grid { stroke: #d1d9e0 }
  .range { stroke: #1f2328 }
  .service { fill: #1f883d }
  .lean { fill: #8c959f }
  .straightforward { fill: #d1d9e0 }
  .rust { fill: #d9a182 }
  .bun { fill: #e5cfa0 }
  .go { fill: #a3cbe0 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .weak { fill: #9198a1 }
    .card { fill: #0d1117; stroke: #3d444d }
    .grid { stroke: #3d444d }
    .range { stroke: #f0f6fc }
    .service { fill: #2ea043 }
    .lean { fill: #656c76 }
    .straightforward { fill: #3d444d }
    .rust { fill: #8a5a41 }
    .bun { fill: #8a7647 }
    .go { fill: #3f6d85 }
  }
`;

/** With two lines of notes below. */
export function toChart(plan: Plan, results: Results, notes: string[]): string {
  const constant = SERVERS.filter(({ isConstant }) => isConstant).map(({ name }) => name);
  const servers = toLines(plan, results).filter(({ name }) => !constant.includes(name));
  const lines = [...servers.toReversed(), ...PEER_LINES];
  const groups = plan.workloads.filter(({ name }) => !isOfReads(name));
  const bars = groups.map(({ name }) => lines.map((line) => spread(line.times(name)) as Spread));
  const most = Math.max(...bars.flat().map((times) => times.most));
  const y = (times: number) => Math.round(PLOT.bottom - (times / most) * (PLOT.bottom - PLOT.top));

  const width = (PLOT.right - PLOT.left) / groups.length;
  const drawn = groups.flatMap(({ title }, group) => {
    const middle = PLOT.left + (group + 0.5) * width;
    const start = middle - ((lines.length - 1) / 2) * STEP;
    return [
      ...lines.flatMap(({ name }, index) => drawBar(name, bars[group]?.[index] as Spread, start + index * STEP, y)),
      drawText(middle, PLOT.bottom + 22, title, 'strong', 'middle'),
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">
<title>${TITLE}</title>
<style>${STYLE}</style>
<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8"/>
${[
  drawText(PLOT.left, 36, TITLE, 'title'),
  ...drawLegend(servers.toReversed(), 64),
  ...drawLegend(
    PEER_LINES.map((line) => ({ ...line, title: `${line.title}, measured elsewhere` })),
    86,
  ),
  ...drawGrid(most, y),
  ...drawn,
  ...notes.map((note, index) => drawText(PLOT.left, HEIGHT - 34 + index * 18, note, 'weak')),
].join('\n')}
</svg>
`;
}

/** The median as a bar with its value, and the range as a line over its end. */
function drawBar(name: string, { median, least, most }: Spread, x: number, y: (times: number) => number): string[] {
  const top = y(median);
  return [
    `<rect class="${name}" x="${x - BAR / 2}" y="${top}" width="${BAR}" height="${PLOT.bottom - top}" rx="2"/>`,
    `<line class="range" x1="${x}" x2="${x}" y1="${y(most)}" y2="${y(least)}"/>`,
    drawText(x, y(most) - 6, median.toFixed(2).replace(/^0/, ''), name === 'service' ? 'strong' : 'weak', 'middle'),
  ];
}

function drawLegend(lines: { name: string; title: string }[], y: number): string[] {
  let end = PLOT.left;
  return lines.flatMap(({ name, title }) => {
    const x = end;
    const words = title.replaceAll('*', '');
    // About the width of a letter: nothing here can measure text.
    end += 40 + words.length * 6.2;
    return [`<rect class="${name}" x="${x}" y="${y - 10}" width="12" height="12" rx="2"/>`, drawText(x + 18, y, words)];
  });
}

function drawGrid(most: number, y: (times: number) => number): string[] {
  const lines = Array.from({ length: Math.floor(most * 5) + 1 }, (_, index) => index / 5);
  return lines.flatMap((times) => [
    `<line class="${times === 1 ? 'range' : 'grid'}" x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(times)}" y2="${y(times)}"/>`,
    drawText(PLOT.left - 8, y(times) + 4, times.toFixed(1), 'weak', 'end'),
  ]);
}

function drawText(x: number, y: number, words: string, style = '', anchor = 'start'): string {
  const safe = words.replace(/[<&]/g, (sign) => (sign === '<' ? '&lt;' : '&amp;'));
  return `<text x="${x}" y="${y}" class="${style}" text-anchor="${anchor}">${safe}</text>`;
}
