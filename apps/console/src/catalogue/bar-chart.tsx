import { t } from '../texts/texts.js';

/** What one bar shows. */
export interface Bar {
  key: string;
  label: string;
  value: number;
}

interface BarChartProps {
  caption: string;
  /** What the bars are of. */
  of: string;
  bars: readonly Bar[];
  /** Formats a value. */
  format(value: number): string;
}

/** Number of lines across the bars, at round values. */
const LINES = 4;

/** The smallest round number (1, 2 or 5 and zeros) of which `LINES` reach a value. */
function stepFor(highest: number): number {
  const rough = highest / LINES;
  if (rough <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((digit) => digit * power >= rough) ?? 10);
}

/** The round values up to the highest or above it, at which lines are drawn. */
export function marksFor(highest: number): number[] {
  const step = Number.isInteger(highest) && highest <= LINES ? 1 : stepFor(highest);
  const lines = Math.max(1, Math.ceil(highest / step));
  return Array.from({ length: lines + 1 }, (_, n) => n * step);
}

/**
 * A bar chart that is a table: screen readers read the same rows, and they fit on a phone. Only the bars are SVG;
 * lengths are percentages, so that text keeps its size.
 */
export function BarChart({ caption, of, bars, format }: BarChartProps) {
  const marks = marksFor(Math.max(0, ...bars.map(({ value }) => value)));
  const full = marks.at(-1) ?? 1;
  const percent = (value: number) => `${(100 * Math.max(0, value)) / full}%`;
  const longest = Math.max(1, ...bars.map(({ value }) => format(value).length));
  return (
    <table className="chart">
      <caption>{caption}</caption>
      <colgroup>
        <col className="chart-label" />
        <col />
        <col style={{ width: `calc(${longest}ch + 1rem)` }} />
      </colgroup>
      <thead>
        <tr>
          <th scope="col">
            <span className="unseen">{of}</span>
          </th>
          <td aria-hidden="true" />
          <th scope="col">
            <span className="unseen">{t('ui.value')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {bars.map(({ key, label, value }) => (
          <tr key={key}>
            <th scope="row">
              <span className="chart-name" title={label}>
                {label}
              </span>
            </th>
            <td className="chart-drawing" aria-hidden="true">
              <svg focusable="false">
                {marks.map((mark) => (
                  <line key={mark} x1={percent(mark)} x2={percent(mark)} y1="0" y2="100%" />
                ))}
                <rect x="0" rx="3" width={percent(value)} />
              </svg>
            </td>
            <td className="chart-number">{format(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
