import type { AroundNavHandler } from 'wouter';

/** Begins each view at its top. On the way back the browser itself restores where one was. */
export const keepScroll: AroundNavHandler = (navigate, to, options) => {
  const { pathname } = location;
  navigate(to, options);
  if (location.pathname !== pathname) scrollTo(0, 0);
};
