/** A Markdown table, and the figures in its cells. */
import { format, spread } from './figures.ts';

interface Titled {
  title: string;
}

/** Leaves out the lines whose cells are all empty; empty where no line is left. */
export function toTable<Line extends Titled, Column extends Titled>(
  title: string,
  lines: readonly Line[],
  columns: readonly Column[],
  toCell: (line: Line, column: Column) => string,
): string {
  const rows = lines
    .map((line) => ({ title: line.title, cells: columns.map((column) => toCell(line, column)) }))
    .filter(({ cells }) => cells.some(Boolean));
  if (rows.length === 0) return '';
  return [
    [title, ...columns.map((column) => column.title)],
    ['---', ...columns.map(() => '--:')],
    ...rows.map((row) => [row.title, ...row.cells]),
  ]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}

/** The median; empty where there is no value. */
export function toMedian(values: number[]): string {
  const range = spread(values);
  return range && !Number.isNaN(range.median) ? format(range.median) : '';
}

/** The median, with the least and the most in brackets. */
export function toRange(values: number[]): string {
  const [range, median] = [spread(values), toMedian(values)];
  return range && median && values.length > 1 ? `${median} (${format(range.least)}–${format(range.most)})` : median;
}
