import { queryOf, rowsOf } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { eventPages } from '../records/event-pages.js';
import { useSession } from '../session/session.js';
import { QueryFailure } from '../ui/query-failure.js';
import { numberText } from '../texts/formats.js';
import { t } from '../texts/texts.js';

/** Change requests that nobody has decided yet, by organization: their latest events say so. */
function usePendingRequests() {
  const { client } = useSession();
  return useQuery({
    queryKey: ['tandem', 'organizations', 'pending'],
    queryFn: async ({ signal }) => {
      const last = new Map<string, { status: unknown; organizationId: string | null }>();
      for await (const { data } of eventPages(client, { types: 'changeRequest.*' }, signal))
        for (const { subject, organizationId, data: state } of data)
          last.set(subject.id, { status: (state as { status?: unknown }).status, organizationId });
      return [...last.values()].filter(({ status }) => status === 'pending');
    },
  });
}

/** What somebody has to do: numbers that lead to it. */
export function Waiting() {
  const { client } = useSession();
  const { api } = client;
  const requests = usePendingRequests();
  const orders = useQuery({
    queryKey: ['tandem', 'orders', 'pending'],
    queryFn: async () => {
      const { parameters } = queryOf('orders.list').where('status', 'eq', 'pending').top(0);
      return rowsOf(await api.orders.list.query(parameters), parameters).total;
    },
  });
  const reports = useQuery({
    queryKey: ['tandem', 'chat', 'open reports'],
    queryFn: async () => {
      const { parameters } = queryOf('chat.listReports').top(0);
      return rowsOf(await api.chat.listReports.query({ ...parameters, status: 'open' }), parameters).total;
    },
  });
  const [first] = requests.data ?? [];
  return (
    <section className="waits wide" aria-label={t('home.waiting.label')}>
      <QueryFailure of={[requests, orders, reports]} />
      <div className="waiting">
        <Tally of={orders.data} text="home.waiting.orders" to="/orders" search={{ filter: "status eq 'pending'" }} />
        <Tally
          of={requests.data?.length}
          text="home.waiting.requests"
          to={first?.organizationId ? `/organizations/${first.organizationId}` : '/organizations'}
          search={first ? { tab: 'change-requests' } : {}}
        />
        <Tally of={reports.data} text="home.waiting.reports" to="/reports" search={{ filter: "status eq 'open'" }} />
      </div>
    </section>
  );
}

interface NumberProps {
  of: number | undefined;
  text: `home.waiting.${'orders' | 'requests' | 'reports'}`;
  to: string;
  search: Record<string, string>;
}

function Tally({ of, text, to, search }: NumberProps) {
  return (
    <Link to={to} search={search} className={of ? 'waiting-number' : 'waiting-number waiting-none'}>
      <strong>{of === undefined ? '…' : numberText(of)}</strong>
      <span>{t(text, { count: of ?? 0 })}</span>
    </Link>
  );
}
