import { useEffect } from 'react';

/** Sets the page's title in the browser's tab. */
export function useTitle(title: string, unread = 0): void {
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ''}${title} · Tandem`;
  }, [title, unread]);
}
