import { useMutation } from '@tanstack/react-query';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Empty, Failure, Loading } from '../ui/notices.js';
import { Live } from '../ui/live.js';
import { QueryFailure } from '../ui/query-failure.js';
import { useTitle } from '../ui/title.js';
import { useFeed } from './feed.js';
import { NotificationRow } from './notification-row.js';
import { t } from '../texts/texts.js';

/** The signed-in identity's notifications, newest first; new ones appear at the top. */
export function NotificationsView() {
  const { rows, loading, unread, isLive, hasMore, loadMore, markRead, markAllRead } = useFeed();
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
      <QueryFailure of={[loading]} />
      <Failure of={marking.error} />
      {!rows && !loading.error && <Loading what={t('home.loading.notifications')} />}
      {rows?.length === 0 && <Empty title={t('home.notifications.none')}>{t('home.notifications.noneWhy')}</Empty>}
      {rows && rows.length > 0 && (
        <ul className="rows" aria-label={t('home.notifications.title')}>
          {rows.map((row) => (
            <Entry key={row.id} of={row}>
              <NotificationRow row={row} onRead={() => marking.mutate(row.id)} />
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
