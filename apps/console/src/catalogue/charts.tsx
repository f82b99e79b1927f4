import { Empty } from '../ui/notices.js';
import { BarChart, type Bar } from './bar-chart.js';
import { money } from './money.js';
import type { GroupRow } from './queries.js';
import { GROUPINGS, MEASURES, type Grouping, type Measure } from './view-state.js';

interface ChartsProps {
  rows: readonly GroupRow[];
  measure: Measure;
  group: Grouping;
  nameOf(key: string): string;
}

function barsOf(rows: readonly GroupRow[], measure: Measure, nameOf: (key: string) => string): Bar[] {
  const values = new Map<string | null, number>();
  for (const { key, [measure]: value } of rows) if (value !== null) values.set(key, (values.get(key) ?? 0) + value);
  return [...values]
    .map(([key, value]) => ({ key: key ?? '', label: key === null ? 'None' : nameOf(key), value }))
    .sort((one, other) => other.value - one.value || one.label.localeCompare(other.label));
}

/** One chart of counts; of prices, one per currency, because currencies are not comparable. */
export function Charts({ rows, measure, group, nameOf }: ChartsProps) {
  const title = new Map(MEASURES).get(measure) ?? '';
  const of = new Map(GROUPINGS).get(group) ?? '';
  const by = of.toLowerCase();
  if (rows.length === 0) return <Empty title="Nothing to show">No product matches these filters.</Empty>;
  if (measure === 'count')
    return <BarChart caption={`${title} by ${by}`} of={of} bars={barsOf(rows, measure, nameOf)} format={String} />;
  const currencies = [...new Set(rows.map(({ currency }) => currency))].filter((currency) => currency !== null).sort();
  return (
    <>
      {currencies.map((currency) => (
        <BarChart
          key={currency}
          caption={`${title} by ${by}, ${currency}`}
          of={of}
          bars={barsOf(
            rows.filter((row) => row.currency === currency),
            measure,
            nameOf,
          )}
          format={(value) => money(value, currency)}
        />
      ))}
    </>
  );
}
