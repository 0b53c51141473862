/** The chart of the README, as SVG: requests per second as multiples of the straightforward server's, in bars. */
import { format, type Results, ratios, type Spread, select, spread } from './figures.ts';
import type { Plan } from './plan.ts';
import { SERVERS, STRAIGHTFORWARD } from './servers.ts';
import type { Workload } from './workloads.ts';

const TITLE = 'Requests per second, the straightforward server being 1';
const WIDTH = 900;
const HEIGHT = 470;
const PLOT = { left: 44, right: WIDTH - 20, top: 116, bottom: HEIGHT - 104 };
const BAR = 40;
/** From one bar of a group to the next. */
const STEP = 48;

/** In a group, from left to right: the two that do the whole job, then those that only answer. */
const ORDER = SERVERS.toSorted((a, b) => Number(a.isConstant) - Number(b.isConstant));

/** A card of its own, so that it can be read on any page; its colours follow the reader's preference. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 18px; font-weight: 600 }
  .strong { font-size: 13px; font-weight: 600 }
  .weak { font-size: 11px; fill: #59636e }
  .card { fill: #fff; stroke: #d1d9e0 }
  .grid { stroke: #d1d9e0 }
  .range { stroke: #1f2328; stroke-width: 1.5 }
  .straightforward { fill: #8c959f }
  .service { fill: #1f883d }
  .constant-node { fill: #8250df }
  .constant-fastify { fill: #c297ff }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .weak { fill: #9198a1 }
    .card { fill: #0d1117; stroke: #3d444d }
    .grid { stroke: #3d444d }
    .range { stroke: #f0f6fc }
    .straightforward { fill: #656c76 }
    .service { fill: #2ea043 }
    .constant-node { fill: #8957e5 }
    .constant-fastify { fill: #553098 }
  }
`;

interface Bar {
  name: string;
  perSecond: Spread;
  ratio: Spread;
}

/** With two lines of notes below; undefined where the straightforward server was not measured. */
export function toChart(plan: Plan, results: Results, notes: string[]): string | undefined {
  const groups = plan.workloads
    .map((workload) => ({ title: workload.title, bars: toBars(plan, results, workload) }))
    .filter(({ bars }) => bars.length > 0);
  if (groups.length === 0) return undefined;
  const bars = groups.flatMap((group) => group.bars);
  const most = Math.max(...bars.map(({ ratio }) => ratio.most));
  const y = (ratio: number) => Math.round(PLOT.bottom - (ratio / most) * (PLOT.bottom - PLOT.top));
  const gap = (PLOT.right - PLOT.left - bars.length * STEP) / groups.length;

  let end = PLOT.left;
  const drawn = groups.flatMap((group) => {
    const start = end + gap / 2;
    const width = group.bars.length * STEP;
    end = start + width + gap / 2;
    return [
      ...group.bars.flatMap((bar, index) => drawBar(bar, start + (index + 0.5) * STEP, y)),
      drawText(start + width / 2, PLOT.bottom + 40, group.title, 'strong', 'middle'),
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">
<title>${TITLE}</title>
<style>${STYLE}</style>
<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8"/>
${[
  drawText(PLOT.left, 36, TITLE, 'title'),
  ...drawLegend(),
  ...drawGrid(most, y),
  drawText(PLOT.left - 8, PLOT.bottom + 16, 'req/s', 'weak', 'end'),
  ...drawn,
  ...notes.map((note, index) => drawText(PLOT.left, HEIGHT - 34 + index * 18, note, 'weak')),
].join('\n')}
</svg>
`;
}

/** Those of a workload; none for the reads of the mix, which are there for their latency, not their number. */
function toBars({ subjects }: Plan, { measurements }: Results, workload: Workload): Bar[] {
  if (workload.name === 'mix-reads') return [];
  const rows = subjects[0]?.rows ?? 0;
  return ORDER.flatMap(({ name }) => {
    const key = { server: name, rows, workload: workload.name };
    const perSecond = spread(select(measurements, key).map((one) => one.perSecond));
    const ratio = spread(ratios(measurements, key, { ...key, server: STRAIGHTFORWARD }));
    return perSecond && ratio ? [{ name, perSecond, ratio }] : [];
  });
}

/** The median as a bar with its values, and the range as a line over its end. */
function drawBar({ name, perSecond, ratio }: Bar, middle: number, y: (ratio: number) => number): string[] {
  const top = y(ratio.median);
  return [
    `<rect class="${name}" x="${middle - BAR / 2}" y="${top}" width="${BAR}" height="${PLOT.bottom - top}" rx="2"/>`,
    `<line class="range" x1="${middle}" x2="${middle}" y1="${y(ratio.most)}" y2="${y(ratio.least)}"/>`,
    drawText(
      middle,
      y(ratio.most) - 6,
      name === STRAIGHTFORWARD ? '1×' : `${format(ratio.median)}×`,
      'strong',
      'middle',
    ),
    drawText(middle, PLOT.bottom + 16, format(perSecond.median), 'weak', 'middle'),
  ];
}

function drawLegend(): string[] {
  let end = PLOT.left;
  return ORDER.flatMap(({ name, title }) => {
    const x = end;
    // What a letter takes at this size, about: there is nothing here to measure text with.
    end += 40 + title.length * 6.2;
    return [`<rect class="${name}" x="${x}" y="54" width="12" height="12" rx="2"/>`, drawText(x + 18, 64, title)];
  });
}

function drawGrid(most: number, y: (ratio: number) => number): string[] {
  const step = [1, 2, 5, 10, 20, 50].find((each) => most / each <= 6) ?? 100;
  const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
  return ticks.flatMap((tick) => [
    `<line class="grid" x1="${PLOT.left}" x2="${PLOT.right}" y1="${y(tick)}" y2="${y(tick)}"/>`,
    drawText(PLOT.left - 8, y(tick) + 4, `${tick}×`, 'weak', 'end'),
  ]);
}

function drawText(x: number, y: number, words: string, style = '', anchor = 'start'): string {
  const safe = words.replace(/[<&]/g, (sign) => (sign === '<' ? '&lt;' : '&amp;'));
  return `<text x="${x}" y="${y}" class="${style}" text-anchor="${anchor}">${safe}</text>`;
}
