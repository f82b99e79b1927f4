import { useEffect, useRef, type RefObject } from 'react';

/** Whether the component is still shown, for what comes back later. */
export function useIsShown(): Readonly<RefObject<boolean>> {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => void (isShown.current = false);
  }, []);
  return isShown;
}
