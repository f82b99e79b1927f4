import type { ComparisonResult, Spread } from './rounds.js';

function ratio({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}

function time(microseconds: number): string {
  return microseconds < 10_000 ? `${Math.round(microseconds)} µs` : `${(microseconds / 1000).toFixed(1)} ms`;
}

function rate(perSecond: number): string {
  return perSecond < 100 ? perSecond.toFixed(1) : String(Math.round(perSecond));
}

const COLUMNS: { title: string; cell(result: ComparisonResult): string }[] = [
  { title: 'scenario', cell: ({ name }) => name },
  { title: 'CPU ratio', cell: ({ ratios }) => ratio(ratios.cpu) },
  { title: 'rate ratio', cell: ({ ratios }) => ratio(ratios.rate) },
  { title: 'CPU/request', cell: ({ tandem }) => time(tandem.cpu) },
  { title: 'bare', cell: ({ bare }) => time(bare.cpu) },
  { title: 'requests/s', cell: ({ tandem }) => rate(tandem.rate) },
  { title: 'bare', cell: ({ bare }) => rate(bare.rate) },
];

/** The results as a table of text: ratios with their median and range, then what they are of. */
export function formatTable(results: readonly ComparisonResult[]): string {
  const rows = [COLUMNS.map(({ title }) => title), ...results.map((result) => COLUMNS.map(({ cell }) => cell(result)))];
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const align = (cell: string, at: number) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0));
  return rows.map((row) => row.map(align).join('   ')).join('\n');
}

/** One line that says whether a target is met. */
export function formatTarget({ name, of, target, isMet, ratios }: ComparisonResult): string {
  const wanted = of === 'cpu' ? `at most ${target} × the CPU per request` : `at least ${target} × the rate`;
  return `${isMet ? 'met    ' : 'NOT met'}  ${name}: ${wanted}; median ${ratios[of].median.toFixed(2)}`;
}
