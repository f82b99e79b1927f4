import { queryOf, rowsOf, type ChannelSummary } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useChat } from '../chat/chat.js';
import { useChannelName } from '../chat/names.js';
import { useFeed } from '../notifications/feed.js';
import { showNotification } from '../notifications/shown-notification.js';
import { valueText } from '../records/words.js';
import { useIdentityId, useSession } from '../session/session.js';
import { Badge } from '../ui/badge.js';
import { Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { money } from '../texts/formats.js';
import { t } from '../texts/texts.js';

const SHOWN = 5;

/** What a person comes for: their orders, what was said to them, and what is new. */
export function OwnHome() {
  return (
    <div className="home">
      <OwnOrders />
      <Unread />
      <Newest />
    </div>
  );
}

function OwnOrders() {
  const { client } = useSession();
  const identityId = useIdentityId();
  const { parameters } = queryOf('orders.list').top(SHOWN);
  const orders = useQuery({
    queryKey: ['tandem', 'orders', 'own', identityId],
    queryFn: async () => rowsOf(await client.api.orders.list.query({ identityId, ...parameters }), parameters).value,
  });
  return (
    <section className="panel wide" aria-label={t('home.own.orders')}>
      <div className="panel-head">
        <h2>{t('home.own.orders')}</h2>
        <Link to="/orders">{t('home.all')}</Link>
      </div>
      <QueryFailure of={[orders]} />
      {!orders.data && !orders.error && <Loading what={t('home.loading.orders')} />}
      {orders.data?.length === 0 && <p className="hint">{t('home.own.noOrders')}</p>}
      <ul className="plain-rows">
        {orders.data?.map(({ id, status, total, currency, createdAt }) => (
          <li key={id}>
            <Link to={`/orders/${id}`}>
              {t('home.own.order', { number: id.slice(-6) })} <span className="tag">{valueText(status, 'status')}</span>
            </Link>
            <span>
              {money(total, currency)} <Time at={createdAt} length="narrow" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Unread() {
  const { channels } = useChat();
  const shown = channels?.slice(0, SHOWN) ?? [];
  return (
    <section className="panel" aria-label={t('home.own.channels')}>
      <div className="panel-head">
        <h2>{t('home.own.chat')}</h2>
        <Link to="/chat">{t('home.all')}</Link>
      </div>
      {channels && shown.length === 0 && <p className="hint">{t('home.own.noChannels')}</p>}
      <ul className="plain-rows">
        {shown.map((channel) => (
          <ChannelLine key={channel.id} channel={channel} />
        ))}
      </ul>
    </section>
  );
}

function ChannelLine({ channel }: { channel: ChannelSummary }) {
  const name = useChannelName(channel);
  const { id, unread = 0, lastMessage } = channel;
  return (
    <li>
      <Link to={`/chat/${id}`}>
        {name} <Badge unread={unread} />
      </Link>
      {lastMessage && <Time at={lastMessage.createdAt} length="narrow" />}
    </li>
  );
}

function Newest() {
  const { rows } = useFeed();
  const shown = rows?.slice(0, SHOWN) ?? [];
  return (
    <section className="panel" aria-label={t('home.own.newest')}>
      <div className="panel-head">
        <h2>{t('home.notifications.title')}</h2>
        <Link to="/notifications">{t('home.all')}</Link>
      </div>
      {rows && shown.length === 0 && <p className="hint">{t('home.own.nothingNew')}</p>}
      <ul className="plain-rows">
        {shown.map((one) => (
          <li key={one.id}>
            <span>{showNotification(one).title}</span>
            <Time at={one.createdAt} length="narrow" />
          </li>
        ))}
      </ul>
    </section>
  );
}
