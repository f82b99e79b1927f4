import { t } from '../texts/texts.js';

/** Whether the view updates live, or waits for the connection. */
export function Live({ is }: { is: boolean }) {
  return <span className={is ? 'live' : 'live live-off'}>{is ? t('ui.live') : t('ui.connecting')}</span>;
}
