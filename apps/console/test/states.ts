import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Locator, Page, Route } from 'playwright-core';
import { expect } from 'vitest';
import { expectClean, offences, type ConsolePage } from './chromium.js';

/** How long a state may take, in milliseconds. */
const options = { timeout: 15_000 };
/** The folder of `npm run screenshots`; without it no pictures are taken. */
const PICTURES = process.env['SCREENSHOTS'];

/** A view, or a part of one, that goes through its states. */
export interface Stateful {
  name: string;
  /** Which calls it waits for, by the name of a procedure. */
  isWaitedFor(procedure: string): boolean;
  /** Goes to it, once these are held. */
  go(page: Page): Promise<unknown>;
  /** Where it says in which state it is; the whole view unless it is a part. */
  part?(page: Page): Locator;
  /** What it says where there is nothing, unless there always is something. */
  empty?: RegExp | undefined;
}

/** Answers the calls that a view waits for with an error, and others of the same request as the server does. */
const fails =
  (httpStatus: number, message: string, { isWaitedFor }: Stateful) =>
  async (route: Route): Promise<void> => {
    const { pathname, searchParams } = new URL(route.request().url());
    const error = { error: { message, code: -32603, data: { code: 'FORBIDDEN', httpStatus } } };
    const names = pathname.slice('/trpc/'.length).split(',');
    if (!searchParams.has('batch')) return route.fulfill({ status: httpStatus, json: error });
    if (names.every((name) => isWaitedFor(name))) return route.fulfill({ status: httpStatus, json: names.map(() => error) });
    const answered = (await (await route.fetch()).json()) as unknown[];
    return route.fulfill({ status: 207, json: names.map((name, at) => (isWaitedFor(name) ? error : answered[at])) });
  };

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: path.join(PICTURES, `${name.replaceAll(/\W+/g, '-')}.png`) });
}

/** Takes a view through its states: each is accessible, and has no errors. @returns in which it did not come, if any */
export async function passStates(visitor: ConsolePage, screen: string, view: Stateful): Promise<string[]> {
  let reached = 'nothing';
  const looks = async (state: string) => {
    reached = state;
    // the view's own code may still be loading
    await visitor.page.getByRole('heading', { level: 1 }).first().waitFor();
    expect(await offences(visitor.page), `${view.name} ${state}`).toEqual([]);
    await expectClean(visitor);
    await picture(visitor.page, `${screen} ${view.name} ${state}`);
  };
  try {
    await pass(visitor.page, view, looks);
    return [];
  } catch (error) {
    return [`${view.name} after ${reached}: ${String(error)}`];
  } finally {
    await visitor.page.unrouteAll({ behavior: 'ignoreErrors' });
  }
}

async function pass(page: Page, view: Stateful, looks: (state: string) => Promise<void>): Promise<void> {
  const part = view.part?.(page) ?? page.getByRole('main');
  const alert = part.getByRole('alert').first();
  const loading = part.getByText(/Loading .*…/).first();
  let answer = (_route: Route): Promise<void> => Promise.resolve();
  let letGo = () => {};
  const isFree = new Promise<void>((resolve) => (letGo = resolve));
  await page.route(
    ({ pathname }) =>
      pathname === '/openapi.json' ||
      (pathname.startsWith('/trpc/') && pathname.split(/[/,]/).some((name) => name.includes('.') && view.isWaitedFor(name))),
    async (route) => {
      await isFree;
      return answer(route);
    },
  );
  await view.go(page);
  await loading.waitFor(options);
  await looks('loading');
  answer = fails(403, 'Not for you', view);
  letGo();
  await alert.getByRole('button', { name: 'Try again' }).waitFor(options);
  await alert.filter({ hasText: 'Not for you' }).waitFor(options);
  await looks('refused');
  answer = fails(503, 'Away for a while', view);
  // all that were refused, before any of them is gone
  await page.evaluate('for (const button of document.querySelectorAll("main [role=alert] button")) button.click()');
  await alert.filter({ hasText: 'Away for a while' }).waitFor(options);
  await looks('failing');
  answer = (route) => route.continue();
  await alert.waitFor({ state: 'detached', ...options });
  await loading.waitFor({ state: 'detached', ...options });
  if (view.empty) await part.getByText(view.empty).first().waitFor(options);
  await looks('again');
}
