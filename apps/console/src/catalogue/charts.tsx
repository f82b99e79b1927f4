import { Empty } from '../ui/notices.js';
import { BarChart, type Bar } from './bar-chart.js';
import type { GroupRow } from './queries.js';
import type { Grouping, Measure } from './view-state.js';
import { money, numberText } from '../texts/formats.js';
import { t } from '../texts/texts.js';

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
    .map(([key, value]) => ({ key: key ?? '', label: key === null ? t('catalogue.charts.none') : nameOf(key), value }))
    .sort((one, other) => other.value - one.value || one.label.localeCompare(other.label));
}

/** One chart of counts; of prices, one per currency, because currencies are not comparable. */
export function Charts({ rows, measure, group, nameOf }: ChartsProps) {
  const of = t(`catalogue.groupings.${group}`);
  if (rows.length === 0) return <Empty title={t('catalogue.charts.nothing')}>{t('catalogue.charts.noMatch')}</Empty>;
  if (measure === 'count')
    return (
      <BarChart
        caption={t('catalogue.charts.captions.count', { of: group })}
        of={of}
        bars={barsOf(rows, measure, nameOf)}
        format={(value) => numberText(value)}
      />
    );
  const currencies = [...new Set(rows.map(({ currency }) => currency))].filter((currency) => currency !== null).sort();
  return (
    <>
      {currencies.map((currency) => (
        <BarChart
          key={currency}
          caption={t(`catalogue.charts.captions.${measure}`, { of: group, currency })}
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
