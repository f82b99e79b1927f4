import { useEffect } from 'react';
import { brandName } from './brand.js';

/** Sets the page's title in the browser's tab. */
export function useTitle(title: string, unread = 0): void {
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ''}${title} · ${brandName()}`;
  }, [title, unread]);
}
