import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Badge } from '../ui/badge.js';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Failure, Loading } from '../ui/notices.js';
import { Popup } from '../ui/popup.js';
import { QueryFailure } from '../ui/query-failure.js';
import { t } from '../texts/texts.js';
import { useFeed } from './feed.js';
import { NotificationRow } from './notification-row.js';
import { showNotification } from './shown-notification.js';

/** Notifications that are shown above any view. */
const SHOWN = 8;

/** The latest notifications, from everywhere: their number, and what they lead to. */
export function NotificationsPopup() {
  const { unread, newest } = useFeed();
  return (
    <>
      <Popup
        kind="dialog"
        label={t(unread === 0 ? 'home.notifications.latest' : 'home.notifications.latestUnread', { unread })}
        className="quiet icon-button with-badge"
        button={
          <>
            <Icon name="bell" />
            <Badge unread={unread} />
          </>
        }
      >
        {(close) => <Latest close={close} />}
      </Popup>
      <span className="unseen" aria-live="polite">
        {newest && t('home.notifications.new', { title: showNotification(newest).title })}
      </span>
    </>
  );
}

function Latest({ close }: { close(): void }) {
  const { rows, loading, unread, markRead, markAllRead } = useFeed();
  const marking = useMutation({ mutationFn: (id: string | undefined) => (id === undefined ? markAllRead() : markRead(id)) });
  return (
    <div className="latest">
      <div className="view-head">
        <h2>{t('home.notifications.title')}</h2>
        <Button className="quiet" isOff={unread === 0 || marking.isPending} onClick={() => marking.mutate(undefined)}>
          {t('home.notifications.markAll')}
        </Button>
      </div>
      <QueryFailure of={[loading]} />
      <Failure of={marking.error} />
      {!rows && !loading.error && <Loading what={t('home.loading.notifications')} />}
      {rows?.length === 0 && <p className="hint">{t('home.notifications.noneWhy')}</p>}
      {rows && rows.length > 0 && (
        <ul className="rows" aria-label={t('home.notifications.latest')}>
          {rows.slice(0, SHOWN).map((row) => (
            <Entry key={row.id} of={row}>
              <NotificationRow row={row} onRead={() => marking.mutate(row.id)} onLeave={close} />
            </Entry>
          ))}
        </ul>
      )}
      <Link to="/notifications" onClick={close}>
        {t('home.notifications.all')}
      </Link>
    </div>
  );
}
