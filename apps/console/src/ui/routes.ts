import { createRouter, type AnyRoute } from '@tanstack/react-router';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The token of a mail's link. */
    token?: string | undefined;
  }
}

/** Addresses are read as people write them: every parameter is a text. */
const parseSearch = (text: string) => Object.fromEntries(new URLSearchParams(text));

function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text === '' ? '' : `?${text}`;
}

/**
 * The router of a page below `basepath`. Each view begins at its top; on the way back the browser itself restores where
 * one was, so that nothing of it is stored.
 */
export function createPageRouter(routeTree: AnyRoute, basepath: string) {
  const router = createRouter({ routeTree, basepath, parseSearch, stringifySearch, defaultPreload: 'intent' });
  let isForward = false;
  router.history.subscribe(({ action }) => (isForward = action.type === 'PUSH'));
  router.subscribe('onRendered', ({ pathChanged }) => {
    if (isForward && pathChanged) scrollTo(0, 0);
  });
  return router;
}
