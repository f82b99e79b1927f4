import type { ReactNode } from 'react';
import { t } from '../texts/texts.js';

/** The bar at the top of a page, after a link that skips it. */
export function Bar({ brand, children }: { brand: ReactNode; children: ReactNode }) {
  return (
    <>
      <a className="skip" href="#content">
        {t('ui.skip')}
      </a>
      <header className="bar">
        {brand}
        <div className="whoami">{children}</div>
      </header>
    </>
  );
}
