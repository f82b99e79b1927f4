import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { PASSWORD, type TestServer } from '@tandem/testing';
import { expect } from 'vitest';

/** How long a page may take to show what a test waits for, in milliseconds. */
const PATIENCE_MS = 30_000;

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

/** Debian's Chromium, headless. Without its sandbox, which does not work as root, as in containers. */
export function launchChromium(): Promise<Browser> {
  const args = ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath: '/usr/bin/chromium', args });
}

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

/** Checks that the page has no errors, and is not wider than its window. */
export async function expectClean({ page, complaints }: ConsolePage): Promise<void> {
  expect(complaints()).toEqual([]);
  const overhang = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(overhang, 'pixels beyond the right edge').toBe(0);
}
