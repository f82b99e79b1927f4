import { t } from '../texts/texts.js';

/** Number of unread items; nothing where there are none. */
export function Badge({ unread }: { unread: number }) {
  if (unread === 0) return null;
  return (
    <span className="badge">
      {unread > 99 ? '99+' : unread}
      <span className="unseen"> {t('ui.unread')}</span>
    </span>
  );
}
