import { area, curveMonotoneX, line } from 'd3-shape';
import { numberText } from '../texts/formats.js';
import { marksFor } from '../catalogue/bar-chart.js';

export interface Point {
  /** The name of the moment, as the reader sees it. */
  label: string;
  value: number;
}

interface TimeChartProps {
  caption: string;
  points: readonly Point[];
  format(value: number): string;
}

const [WIDTH, HEIGHT] = [640, 206];
const EDGES = { top: 12, right: 12, bottom: 30, left: 48 };

/** Values over time, as a line above its area. Screen readers get the same as a table. */
export function TimeChart({ caption, points, format }: TimeChartProps) {
  const marks = marksFor(Math.max(0, ...points.map(({ value }) => value)));
  const [ground, high] = [HEIGHT - EDGES.bottom, HEIGHT - EDGES.bottom - EDGES.top];
  const y = (value: number) => ground - (value / (marks.at(-1) ?? 1)) * high;
  const apart = (WIDTH - EDGES.left - EDGES.right) / Math.max(1, points.length - 1);
  const at = (_: Point, index: number) => EDGES.left + index * apart;
  const shape = { x: at, y: ({ value }: Point) => y(value) };
  const drawn = [...points];
  const top = line<Point>(shape.x, shape.y).curve(curveMonotoneX)(drawn) ?? '';
  const below = area<Point>(shape.x, y(0), shape.y).curve(curveMonotoneX)(drawn) ?? '';
  return (
    <figure className="time-chart">
      <figcaption>{caption}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        {marks.map((value) => (
          <g key={value} className="grid">
            <line x1={EDGES.left} x2={WIDTH - EDGES.right} y1={y(value)} y2={y(value)} />
            <text x={EDGES.left - 8} y={y(value)} dy="0.32em" textAnchor="end">
              {numberText(value, { notation: 'compact' })}
            </text>
          </g>
        ))}
        <path className="time-area" d={below} />
        <path className="time-line" d={top} />
        {points.map((point, index) => (
          <g key={point.label} className="time-point">
            <circle cx={at(point, index)} cy={y(point.value)} r="3" />
            <title>{`${point.label}: ${format(point.value)}`}</title>
            {index % Math.ceil(points.length / 6) === 0 && (
              <text x={at(point, index)} y={HEIGHT - 6} textAnchor={index === 0 ? 'start' : 'middle'}>
                {point.label}
              </text>
            )}
          </g>
        ))}
      </svg>
      <table className="unseen">
        <caption>{caption}</caption>
        <tbody>
          {points.map(({ label, value }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{format(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
