import type { Notification } from '@tandem/client';
import { Link } from '@tanstack/react-router';
import { Button } from '../ui/button.js';
import { Time } from '../ui/time.js';
import { t } from '../texts/texts.js';
import { placeOfNotification, showNotification } from './shown-notification.js';

interface NotificationRowProps {
  row: Notification;
  onRead(): void;
  /** Somebody goes where it leads. */
  onLeave?(): void;
}

/** A notification: what it says, when it came, and where it leads. */
export function NotificationRow({ row, onRead, onLeave }: NotificationRowProps) {
  const { title, text, facts } = showNotification(row);
  const place = placeOfNotification(row);
  return (
    <li className={row.isRead ? 'row row-seen' : 'row row-new'}>
      <div className="row-main">
        <p className="row-title">
          {title} {!row.isRead && <span className="unseen">{t('home.notifications.isUnread')}</span>}
        </p>
        {text !== undefined && <p>{text}</p>}
        {place && (
          <p>
            <Link
              to={place.to}
              search={place.search}
              onClick={() => {
                if (!row.isRead) onRead();
                onLeave?.();
              }}
            >
              {t(place.text)}
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
