import type { AttackResult } from './attack.js';
import type { LatencyResult } from './latency.js';
import { MEGABYTE, type NeedResult, type Unit } from './needs.js';
import type { ComparisonResult, Spread } from './rounds.js';
import type { TimeResult } from './times.js';

function ratio({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}

function time(microseconds: number): string {
  return microseconds < 10_000 ? `${Math.round(microseconds)} µs` : `${(microseconds / 1000).toFixed(1)} ms`;
}

function rate(perSecond: number): string {
  return perSecond < 100 ? perSecond.toFixed(1) : String(Math.round(perSecond));
}

function kibibytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}

function amount(unit: Unit, value: number): string {
  if (unit === 'microseconds') return time(value);
  if (unit !== 'bytes') return String(Math.round(value));
  return value < MEGABYTE ? kibibytes(value) : `${(value / MEGABYTE).toFixed(1)} MB`;
}

interface Column<Result> {
  title: string;
  cell(result: Result): string;
}

const COLUMNS: Column<ComparisonResult>[] = [
  { title: 'scenario', cell: ({ name }) => name },
  { title: 'CPU ratio', cell: ({ ratios }) => ratio(ratios.cpu) },
  { title: 'rate ratio', cell: ({ ratios }) => ratio(ratios.rate) },
  { title: 'CPU/request', cell: ({ tandem }) => time(tandem.cpu) },
  { title: 'bare', cell: ({ bare }) => time(bare.cpu) },
  { title: 'requests/s', cell: ({ tandem }) => rate(tandem.rate) },
  { title: 'bare', cell: ({ bare }) => rate(bare.rate) },
  { title: 'p99 ratio', cell: ({ ratios }) => (Number.isNaN(ratios.p99.median) ? '' : ratio(ratios.p99)) },
  { title: 'p99', cell: ({ tandem }) => (Number.isNaN(tandem.p99) ? '' : time(tandem.p99 * 1000)) },
  { title: 'bare', cell: ({ bare }) => (Number.isNaN(bare.p99) ? '' : time(bare.p99 * 1000)) },
];

const LATENCY_COLUMNS: Column<LatencyResult>[] = [
  { title: 'scenario', cell: ({ name }) => name },
  { title: 'p99 ratio', cell: ({ ratios }) => ratio(ratios.p99) },
  { title: 'p99', cell: ({ disturbed }) => time(disturbed.p99 * 1000) },
  { title: 'quiet', cell: ({ quiet }) => time(quiet.p99 * 1000) },
  { title: 'median', cell: ({ disturbed }) => time(disturbed.median * 1000) },
  { title: 'quiet', cell: ({ quiet }) => time(quiet.median * 1000) },
  { title: 'per second', cell: ({ disturbed }) => rate(disturbed.disturbances) },
];

const TIME_COLUMNS: Column<TimeResult>[] = [
  { title: 'scenario', cell: ({ name }) => name },
  { title: 'time ratio', cell: ({ ratios }) => ratio(ratios.time) },
  { title: 'time', cell: (result) => time(result.time * 1000) },
  { title: 'against', cell: ({ against }) => against },
  { title: 'time', cell: ({ other }) => time(other * 1000) },
];

const NEED_COLUMNS: Column<NeedResult>[] = [
  { title: 'scenario', cell: ({ name }) => name },
  { title: 'needed', cell: ({ unit, tandem }) => amount(unit, tandem) },
  { title: 'against', cell: ({ bare, against }) => (bare === undefined ? '' : against) },
  { title: 'needed', cell: ({ unit, bare }) => (bare === undefined ? '' : amount(unit, bare)) },
  { title: 'ratio', cell: (result) => (result.ratio ? ratio(result.ratio) : '') },
];

const ATTACK_COLUMNS: Column<AttackResult>[] = [
  { title: 'others during', cell: ({ name }) => name },
  { title: 'p95 ratio', cell: ({ ratios }) => ratio(ratios.during) },
  { title: 'p95', cell: ({ during }) => time(during * 1000) },
  { title: 'quiet', cell: ({ quiet }) => time(quiet * 1000) },
  { title: 'after it', cell: ({ ratios }) => ratio(ratios.after) },
  { title: 'failures', cell: ({ failures }) => String(failures) },
  { title: 'growth', cell: ({ growth }) => mebibytes(growth) },
  { title: 'the attacker got', cell: ({ answers }) => Object.entries(answers).map(([of, count]) => `${count} × ${of}`).join(', ') }, // prettier-ignore
];

function format<Result>(columns: readonly Column<Result>[], results: readonly Result[]): string {
  if (results.length === 0) return '';
  const rows = [columns.map(({ title }) => title), ...results.map((result) => columns.map(({ cell }) => cell(result)))];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const align = (cell: string, at: number) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0));
  return rows.map((row) => row.map(align).join('   ')).join('\n');
}

/** The results as a text table: ratios with median and range, then the underlying figures. Empty without results. */
export function formatTable(results: readonly ComparisonResult[]): string {
  return format(COLUMNS, results);
}

/** The same for latencies. */
export function formatLatencies(results: readonly LatencyResult[]): string {
  return format(LATENCY_COLUMNS, results);
}

/** The same for times in this process. */
export function formatTimes(results: readonly TimeResult[]): string {
  return format(TIME_COLUMNS, results);
}

/** The same for what processes need. */
export function formatNeeds(results: readonly NeedResult[]): string {
  return format(NEED_COLUMNS, results);
}

/** The same for attacks. */
export function formatAttacks(results: readonly AttackResult[]): string {
  return format(ATTACK_COLUMNS, results);
}

export type Result = AttackResult | ComparisonResult | LatencyResult | TimeResult | NeedResult;

/** A target, and what was measured. */
function judge(result: Result): [wanted: string, measured: string] {
  if (result.of === 'need') return judgeNeed(result);
  if (result.of === 'attack')
    return [
      `at most ${result.target} × the quiet p95, no failure, ${mebibytes(result.memoryTarget)} more`,
      `median ${result.ratios.during.median.toFixed(2)}, ${result.ratios.after.median.toFixed(2)} after it, ${result.failures} failures, ${mebibytes(result.growth)}`,
    ];
  if (result.of === 'time') {
    const { target, targetMs } = result;
    return [
      `at most ${Number(target.toFixed(2))} × the time of ${result.against}${targetMs ? `, and ${time(targetMs * 1000)}` : ''}`,
      `median ${result.ratios.time.median.toFixed(2)}${targetMs ? `, ${time(result.time * 1000)}` : ''}`,
    ];
  }
  if (result.of === 'p99') {
    const { target: most, atLeast, ratios, disturbed } = result;
    const rate = (perSecond: number) => `${Math.round(perSecond)} a second`;
    return [
      `at most ${most} × the quiet p99${atLeast ? `, and at least ${rate(atLeast)}` : ''}`,
      `median ${ratios.p99.median.toFixed(2)}${atLeast ? `, ${rate(disturbed.disturbances)}` : ''}`,
    ];
  }
  const { target } = result;
  if (result.of === 'cpu') {
    const { p99Target, ratios } = result;
    return [
      target === undefined
        ? 'no target'
        : `at most ${target} × the CPU per request${p99Target ? `, and ${p99Target} × the p99` : ''}`,
      `median ${ratios.cpu.median.toFixed(2)}${p99Target ? `, p99 ${ratios.p99.median.toFixed(2)}` : ''}`,
    ];
  }
  return [`at least ${target} × the rate`, `median ${result.ratios.rate.median.toFixed(2)}`];
}

function judgeNeed({
  unit,
  target,
  ratioTarget,
  against,
  tandem,
  ratio: measured,
}: NeedResult): [wanted: string, measured: string] {
  const wanted = [
    ...(target === undefined ? [] : [amount(unit, target)]),
    ...(ratioTarget === undefined ? [] : [`${ratioTarget} × ${against}`]),
  ];
  const given = `${amount(unit, tandem)}${measured ? `, ${measured.median.toFixed(2)} × ${against}` : ''}`;
  return [wanted.length > 0 ? `at most ${wanted.join(', and ')}` : 'no target', given];
}

/** One line that reports whether a target is met. */
export function formatTarget(result: Result): string {
  const [wanted, measured] = judge(result);
  const verdict = result.isMet === undefined ? '       ' : result.isMet ? 'met    ' : 'NOT met';
  return `${verdict}  ${result.name}: ${wanted}; ${measured}`;
}
