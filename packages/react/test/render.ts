import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { PATIENCE, type TestServer } from '@tandem/testing';
import { StrictMode, createElement, isValidElement, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, onTestFinished } from 'vitest';
import { TandemProvider, type TandemProviderProps } from '../src/index.js';

/** What a component has rendered. */
export interface Rendered<Result> {
  /** The result of the hooks at the last rendering. */
  readonly now: Result;
  /** The results of all renderings. */
  readonly all: readonly Result[];
  /** Waits until the last result passes. */
  until(passes: (result: Result) => boolean): Promise<Result>;
  unmount(): void;
}

/** Reads all properties of what hooks return: TanStack Query renders again only for those that a component has read. */
function readAll(result: unknown): void {
  for (const one of [result].flat()) if (typeof one === 'object' && one !== null) Object.values(one);
}

/** Renders a component that calls hooks, and what they return if that is an element, in a page of its own under StrictMode, and records what they return. */
export function render<Result>(
  app: Pick<TestServer, 'url'>,
  hooks: () => Result,
  { queries = new QueryClient(), ...options }: Partial<TandemProviderProps> & { queries?: QueryClient } = {},
): Rendered<Result> & { queries: QueryClient } {
  const all: Result[] = [];
  function Component(): ReactNode {
    const result = hooks();
    all.push(result);
    if (isValidElement(result)) return result;
    readAll(result);
    return null;
  }
  const provider = createElement(TandemProvider, { url: app.url, ...options }, createElement(Component));
  const { document } = globalThis as unknown as { document: { createElement(tag: string): Parameters<typeof createRoot>[0] } };
  const root = createRoot(document.createElement('div'));
  root.render(createElement(StrictMode, null, createElement(QueryClientProvider, { client: queries }, provider)));
  let isMounted = true;
  const unmount = () => {
    if (isMounted) root.unmount();
    isMounted = false;
  };
  onTestFinished(() => {
    unmount();
    queries.clear();
  });
  const last = () => all.at(-1) as Result;
  return {
    queries,
    all,
    get now() {
      return last();
    },
    async until(passes) {
      await expect.poll(() => all.length > 0 && passes(last()), PATIENCE).toBe(true);
      return last();
    },
    unmount,
  };
}
