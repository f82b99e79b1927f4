import { useCallback, useState, useSyncExternalStore, type RefCallback } from 'react';

function subscribe(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange);
  return () => document.removeEventListener('visibilitychange', onChange);
}

/** Whether the page is visible: messages in a hidden tab do not count as read. */
export function useVisible(): boolean {
  return useSyncExternalStore(subscribe, () => document.visibilityState === 'visible');
}

/** Whether an element is in view: there, and not scrolled out of it, in its container or with the page. */
export function useInView(): [ref: RefCallback<Element>, isInView: boolean] {
  const [isInView, setInView] = useState(false);
  const ref = useCallback((element: Element | null) => {
    const observer = new IntersectionObserver((entries) => setInView(entries.at(-1)?.isIntersecting ?? false));
    if (element) observer.observe(element);
    return () => {
      observer.disconnect();
      setInView(false);
    };
  }, []);
  return [ref, isInView];
}
