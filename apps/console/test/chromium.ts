import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { PASSWORD, type TestServer } from '@tandem/testing';
import { expect } from 'vitest';

/** How long a page may take to show what is waited for, in milliseconds. */
const PATIENCE_MS = 30_000;

/** What phones have, in CSS pixels. */
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
export const DESKTOP = { viewport: { width: 1280, height: 800 } };

/** A page of the console in a browser of its own, with what it complained of. */
export interface ConsolePage extends AsyncDisposable {
  page: Page;
  /** Opens a path below `/console`. */
  open(path: string): Promise<void>;
  /** Signs in by the form. */
  signIn(email: string, password?: string): Promise<void>;
  /** What the page has complained of, offences against its policy among it, without what is allowed. */
  complaints(): string[];
  /** Complaints that are meant to come: texts in them. */
  allow(text: string): void;
  close(): Promise<void>;
}

/** Debian's Chromium, headless. As root, as in containers, it has no sandbox of its own. */
export function launchChromium(): Promise<Browser> {
  const args = ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath: '/usr/bin/chromium', args });
}

/** A visitor with no cookies, no storage and nobody signed in. */
export async function visit(
  browser: Browser,
  app: Pick<TestServer, 'url'>,
  options: BrowserContextOptions = DESKTOP,
): Promise<ConsolePage> {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  const allowed: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));

  const close = () => context.close();
  return {
    page,
    async open(path) {
      await page.goto(`${app.url}/console${path}`);
    },
    async signIn(email, password = PASSWORD) {
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
    },
    complaints: () => complaints.filter((text) => !allowed.some((part) => text.includes(part))),
    allow: (text) => void allowed.push(text),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The page has complained of nothing, and is not wider than its window. */
export async function expectClean({ page, complaints }: ConsolePage): Promise<void> {
  expect(complaints()).toEqual([]);
  const overhang = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(overhang, 'pixels beyond the right edge').toBe(0);
}
