import type { Notification } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Empty, Failure, Loading } from '../ui/notices.js';
import { Live } from '../ui/live.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { useFeed } from './feed.js';
import { showNotification } from './shown-notification.js';
import { t } from '../texts/texts.js';

/** The signed-in identity's notifications, newest first; new ones appear at the top. */
export function NotificationsView() {
  const { rows, loading, unread, isLive, newest, hasMore, loadMore, markRead, markAllRead } = useFeed();
  useTitle(t('home.notifications.title'), unread);
  const older = useMutation({ mutationFn: loadMore });
  const marking = useMutation({ mutationFn: (id: string | undefined) => (id === undefined ? markAllRead() : markRead(id)) });

  return (
    <>
      <header className="view-head">
        <h1>{t('home.notifications.title')}</h1>
        {unread > 0 && <span className="tag">{t('home.notifications.unread', { unread })}</span>}
        <Live is={isLive} />
        <Button isOff={unread === 0 || marking.isPending} onClick={() => marking.mutate(undefined)}>
          {t('home.notifications.markAll')}
        </Button>
      </header>
      <p className="unseen" aria-live="polite">
        {newest && t('home.notifications.new', { title: showNotification(newest).title })}
      </p>
      <QueryFailure of={[loading]} />
      <Failure of={marking.error ?? older.error} />
      {!rows && !loading.error && <Loading what={t('home.loading.notifications')} />}
      {rows?.length === 0 && <Empty title={t('home.notifications.none')}>{t('home.notifications.noneWhy')}</Empty>}
      {rows && rows.length > 0 && (
        <ul className="rows" aria-label={t('home.notifications.title')}>
          {rows.map((row) => (
            <Entry key={row.id} of={row}>
              <Row row={row} onRead={() => marking.mutate(row.id)} />
            </Entry>
          ))}
        </ul>
      )}
      {hasMore && (
        <Button className="more" isOff={older.isPending} onClick={() => older.mutate()}>
          {t('home.notifications.older')}
        </Button>
      )}
    </>
  );
}

function Row({ row, onRead }: { row: Notification; onRead(): void }) {
  const { title, text, facts } = showNotification(row);
  return (
    <li className={row.isRead ? 'row row-seen' : 'row row-new'}>
      <div className="row-main">
        <p className="row-title">
          {title} {!row.isRead && <span className="unseen">{t('home.notifications.isUnread')}</span>}
        </p>
        {text !== undefined && <p>{text}</p>}
        {row['kind'] === 'mention' && (
          <p>
            <Link to={`/chat/${String(row['channelId'])}`} search={{ message: String(row['messageId']) }}>
              {t('home.notifications.message')}
            </Link>
          </p>
        )}
        <p className="row-more">
          <Time at={row.createdAt} />
          {facts.map(([name, value]) => (
            <span key={name}>
              {' · '}
              {name} <span className="value">{value}</span>
            </span>
          ))}
        </p>
      </div>
      {!row.isRead && (
        <Button className="quiet" aria-label={t('home.notifications.markOne', { title })} onClick={onRead}>
          {t('home.notifications.mark')}
        </Button>
      )}
    </li>
  );
}
