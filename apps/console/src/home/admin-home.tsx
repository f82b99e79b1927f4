import { aggregate, count, groupBy, queryOf, rowsOf } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { BarChart } from '../catalogue/bar-chart.js';
import { valueText } from '../records/words.js';
import { useSession } from '../session/session.js';
import { Choice } from '../ui/field.js';
import { Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { loadMonths } from './months.js';
import { TimeChart } from './time-chart.js';
import { Waiting } from './waiting.js';
import { money, monthText, numberText } from '../texts/formats.js';
import { t } from '../texts/texts.js';

/** How the business goes, what waits for somebody, and whether all is well. */
export function AdminHome() {
  return (
    <div className="home">
      <Waiting />
      <Sales />
      <States />
      <Recent />
      <Health />
    </div>
  );
}

function Sales() {
  const { client } = useSession();
  const sales = useQuery({ queryKey: ['tandem', 'orders', 'months'], queryFn: () => loadMonths(client) });
  const [chosen, setChosen] = useState('');
  const [measure, setMeasure] = useState<'revenue' | 'orders'>('revenue');
  const totals = new Map<string, number>();
  for (const { currencies } of sales.data ?? [])
    for (const { currency, orders } of currencies)
      if (currency !== null) totals.set(currency, (totals.get(currency) ?? 0) + orders);
  const used = [...totals].sort(([, one], [, other]) => other - one).map(([currency]) => currency);
  const currency = used.includes(chosen) ? chosen : used[0];
  return (
    <section className="panel wide" aria-label={t('home.sales.label')}>
      <div className="panel-head">
        <h2>{t('home.sales.title')}</h2>
        <div className="head-choices">
          <Choice<'revenue' | 'orders'>
            label={t('home.sales.show')}
            value={measure}
            options={[
              ['revenue', t('home.sales.revenue')],
              ['orders', t('home.sales.orders')],
            ]}
            onChange={setMeasure}
          />
          {used.length > 1 && (
            <Choice
              label={t('home.sales.currency')}
              value={currency ?? ''}
              options={used.map((one) => [one, one])}
              onChange={setChosen}
            />
          )}
        </div>
      </div>
      <QueryFailure of={[sales]} />
      {!sales.data && !sales.error && <Loading what={t('home.loading.orders')} />}
      {sales.data && currency === undefined && <p className="hint">{t('home.sales.none')}</p>}
      {sales.data && currency !== undefined && (
        <TimeChart
          caption={t(measure === 'revenue' ? 'home.sales.revenueIn' : 'home.sales.ordersIn', { currency })}
          format={(value) => (measure === 'revenue' ? money(value, currency) : numberText(value))}
          points={sales.data.map(({ first, currencies }) => ({
            label: monthText(first),
            value: currencies.find((one) => one.currency === currency)?.[measure] ?? 0,
          }))}
        />
      )}
    </section>
  );
}

function States() {
  const { client } = useSession();
  const { parameters } = queryOf('orders.list').apply(groupBy(['status'], aggregate({ orders: count() }))).top(10); // prettier-ignore
  const states = useQuery({
    queryKey: ['tandem', 'orders', 'states'],
    queryFn: async () => rowsOf(await client.api.orders.list.query(parameters), parameters).value,
  });
  return (
    <section className="panel" aria-label={t('home.states.title')}>
      <h2>{t('home.states.title')}</h2>
      <QueryFailure of={[states]} />
      {!states.data && !states.error && <Loading what={t('home.loading.orders')} />}
      {states.data?.length === 0 && <p className="hint">{t('home.sales.none')}</p>}
      {states.data && states.data.length > 0 && (
        <BarChart
          caption={t('home.states.caption')}
          of={t('home.states.of')}
          format={(value) => numberText(value)}
          bars={states.data.map(({ status, orders }) => ({
            key: String(status),
            label: valueText(String(status), 'status'),
            value: orders,
          }))}
        />
      )}
    </section>
  );
}

const SHOWN = 6;

function Recent() {
  const { client } = useSession();
  const { parameters } = queryOf('auth.events').top(SHOWN);
  const events = useQuery({
    queryKey: ['tandem', 'auth', 'events', 'newest'],
    queryFn: async () => rowsOf(await client.api.auth.events.query(parameters), parameters).value,
  });
  return (
    <section className="panel" aria-label={t('home.events')}>
      <div className="panel-head">
        <h2>{t('home.events')}</h2>
        <Link to="/audit">{t('home.all')}</Link>
      </div>
      <QueryFailure of={[events]} />
      {!events.data && !events.error && <Loading what={t('home.loading.events')} />}
      <ul className="plain-rows">
        {events.data?.map(({ id, type, ip, createdAt }) => (
          <li key={id}>
            <span>{valueText(type, 'type')}</span>
            <span className="hint">
              {ip} · <Time at={createdAt} length="narrow" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** How often health is asked for, in milliseconds. */
const HEALTH_MS = 15_000;

function Health() {
  const health = useQuery({
    queryKey: ['health'],
    refetchInterval: HEALTH_MS,
    queryFn: async () => (await fetch('/health/ready')).ok,
  });
  return (
    <section className="panel" aria-label={t('home.health.title')}>
      <h2>{t('home.health.title')}</h2>
      <p>
        {health.data === true && <span className="tag">{t('home.health.good')}</span>}
        {(health.data === false || health.failureCount > 0) && <span className="tag tag-bad">{t('home.health.bad')}</span>}
      </p>
    </section>
  );
}
