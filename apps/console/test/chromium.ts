import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import {
  chromium,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  type Route,
  type WebSocketRoute,
} from 'playwright-core';
import { CHROMIUM, PASSWORD, type Person, type TestServer } from '@tandem/testing';
import { expect, onTestFailed } from 'vitest';

/** How long a page may take to show what a test waits for, in milliseconds. */
const PATIENCE_MS = 30_000;

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** A phone's viewport, in CSS pixels. */
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
export const DESKTOP = { viewport: { width: 1280, height: 800 } };

/** A page of the console in its own browser, with its recorded errors. */
export interface ConsolePage extends AsyncDisposable {
  page: Page;
  /** Opens a path below `/console`. */
  open(path: string): Promise<void>;
  /** Signs in with the form. */
  signIn(email: string, password?: string): Promise<void>;
  /** The page's errors, violations of its policy included, without the allowed ones. */
  complaints(): string[];
  /** Allows expected errors that contain this text. */
  allow(text: string): void;
  close(): Promise<void>;
}

export interface Browser extends AsyncDisposable {
  newContext(options: BrowserContextOptions): Promise<BrowserContext>;
}

/** Debian's Chromium, headless. Without its sandbox, which does not work as root, as in containers. */
export async function launchChromium(): Promise<Browser> {
  const args = ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  const browser = await chromium.launch({ executablePath: `/usr/bin/${CHROMIUM}`, args });
  return { newContext: (options) => browser.newContext(options), [Symbol.asyncDispose]: () => browser.close() };
}

/** The operations that pages of this test file have called. */
const called = new Set<string>();

/** Those of a view's operations that no page of this test file has called: for its last test. */
export const notCalled = (operations: readonly string[]) => operations.filter((one) => !called.has(one));

/** A visitor without cookies, storage or session. */
export async function visit(
  browser: Browser,
  app: Pick<TestServer, 'url'>,
  options: BrowserContextOptions = DESKTOP,
): Promise<ConsolePage> {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  // a page that is left ends streams that are still opening
  const allowed = ['WebSocket is closed before the connection is established'];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));

  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/trpc/')) for (const one of pathname.slice('/trpc/'.length).split(',')) called.add(one);
  });

  let lastSeen = '';
  // oxlint-disable-next-line no-console -- explains why a test has failed
  onTestFailed(() => console.error(lastSeen));
  const close = async () => {
    const text = await page.locator('body').innerText({ timeout: 1000 }).catch(String);
    lastSeen = [page.url(), text, ...complaints].join('\n');
    await context.close();
  };
  return {
    page,
    async open(path) {
      await page.goto(`${app.url}/console${path}`);
    },
    async signIn(email, password = PASSWORD) {
      await page.getByLabel('Email', { exact: true }).fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    },
    complaints: () => complaints.filter((text) => !allowed.some((part) => text.includes(part))),
    allow: (text) => void allowed.push(text),
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface SignedInVisit {
  person: Pick<Person, 'email'>;
  path: string;
  options?: BrowserContextOptions | undefined;
}

/** A person's page, signed in at a view. */
export async function visitSignedIn(
  browser: Browser,
  app: Pick<TestServer, 'url'>,
  { person: { email }, path, options }: SignedInVisit,
): Promise<ConsolePage> {
  const visitor = await visit(browser, app, options);
  await visitor.open(path);
  await visitor.signIn(email);
  await signedIn(visitor.page);
  return visitor;
}

/** Loads a page again, so that a test can take its WebSockets of an address away, and give them back. */
export async function interruptible(page: Page, address: RegExp) {
  const sockets: WebSocketRoute[] = [];
  const heard: string[] = [];
  const muted = new Set<WebSocketRoute>();
  let isAway = false;
  await page.routeWebSocket(address, (socket) => {
    sockets.push(socket);
    if (isAway) void socket.close({ code: 1012 });
    else
      socket.connectToServer().onMessage((message) => {
        if (muted.has(socket)) return;
        heard.push(String(message));
        socket.send(message);
      });
  });
  await page.reload();
  return {
    async leave(): Promise<void> {
      isAway = true;
      for (const socket of sockets) await socket.close({ code: 1012 });
    },
    comeBack: () => void (isAway = false),
    /** Lets nothing more through of what the server says on the open ones, and does not close them. */
    mute(): void {
      for (const socket of sockets) muted.add(socket);
    },
    /** Waits until the server has said something. */
    async said(text: string): Promise<void> {
      await expect.poll(() => heard.some((one) => one.includes(text)), { timeout: PATIENCE_MS }).toBe(true);
    },
  };
}

/** Holds the calls of a procedure, as if the server were far away. @returns what lets them go */
export async function hold(page: Page, procedure: string): Promise<() => void> {
  let letGo = () => {};
  const isFree = new Promise<void>((resolve) => (letGo = resolve));
  await page.route(`**/trpc/${procedure}`, (route) => isFree.then(() => route.continue()));
  return letGo;
}

/** Holds the next answer of a procedure, as the server has given it. */
export async function holdAnswer(page: Page, procedure: string): Promise<{ isGiven: Promise<void>; letGo(): void }> {
  let [give, letGo] = [() => {}, () => {}];
  const isGiven = new Promise<void>((resolve) => (give = resolve));
  const isFree = new Promise<void>((resolve) => (letGo = resolve));
  const answerLate = async (route: Route) => {
    const response = await route.fetch();
    give();
    await isFree;
    await route.fulfill({ response });
  };
  await page.route(`**/trpc/${procedure}?*`, answerLate, { times: 1 });
  return { isGiven, letGo: () => letGo() };
}

/** Waits until somebody is signed in. */
export const signedIn = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();

/** Goes to a view by the menu, which is opened first where it does not stand beside the view. */
export async function goTo(page: Page, view: string | RegExp): Promise<void> {
  await signedIn(page);
  const menu = page.getByRole('button', { name: 'Menu' });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click();
}

/** Goes to a view within the page, as its links do: what the page has loaded stays. */
export const turnTo = (page: Page, path: string) =>
  page.evaluate(`history.pushState({}, '', '/console${path}'); dispatchEvent(new PopStateEvent('popstate'))`);

/** The name of what has the focus: its label, else its text. */
export const focusedText = (page: Page) =>
  page.evaluate<string>(
    '(document.activeElement.getAttribute("aria-label") ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent).trim()',
  );

/** Presses Tab until something with this name has the focus, which may still have to be shown. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    await page.keyboard.press('Tab');
    const focused = await focusedText(page);
    if (typeof name === 'string' ? focused === name : name.test(focused)) return;
  }
  throw new Error(`${String(name)} cannot be reached by Tab`);
}

/**
 * Changes the answers of a procedure on their way to the page, as if the server had records that it should not have.
 * @returns a function that leaves them as they are again
 */
export async function alterAnswers(
  page: Page,
  procedure: string,
  change: (text: string) => string,
): Promise<() => Promise<void>> {
  const isIts = ({ pathname }: URL) => pathname.startsWith('/trpc/') && pathname.includes(procedure);
  await page.route(isIts, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: change(await response.text()) });
  });
  return () => page.unroute(isIts);
}

/** Checks that the page has no errors, and is not wider than its window. */
export async function expectClean({ page, complaints }: ConsolePage): Promise<void> {
  expect(complaints()).toEqual([]);
  const overhang = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  if (overhang === 0) return;
  const beyond = await page.evaluate<string[]>(`[...document.querySelectorAll('body *')]
    .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map((one) => one.outerHTML.slice(0, 90))`);
  expect(beyond, `${String(overhang)} pixels beyond the right edge`).toEqual([]);
}

/** Accessibility violations of the page, as axe reports them. */
export async function offences(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(AXE, 'utf8'));
  const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
  return violations.map(({ id, help, nodes }) => `${id}: ${help}, at ${nodes.map(({ target }) => String(target)).join('; ')}`);
}
