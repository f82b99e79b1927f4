import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { launchChromium, visitSignedIn } from './chromium.js';
import { stepsOf } from './reach-steps.js';
import { PICTURE } from './reach-more.js';
import { makeWorld, type Step } from './reach-world.js';
import { NOT_REACHED, REACHED } from './reached.js';

/** The part of all operations that people come to in the console. */
const LEAST = 0.9;

describe.skipIf(!HAS_CHROMIUM)('the operations (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('are reached where their records are shown, and all but those with a reason are reached', async () => {
    const admin = await app.signUpAdmin();
    const steps = stepsOf(await makeWorld(app, admin), admin);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products' });
    const { page } = visitor;
    const failed: string[] = [];
    for (const step of steps) {
      try {
        await take(page, step);
      } catch (error) {
        failed.push(`${step.calls} at ${step.at}: ${String(error).slice(0, 300)}`);
        await page.reload();
      }
    }
    expect(failed).toEqual([]);

    const { paths } = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const all = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    const reached = new Set([...steps.map(({ calls }) => calls), ...Object.values(REACHED).flat()]);
    expect(all.filter((id) => !reached.has(id)).sort()).toEqual(Object.keys(NOT_REACHED).sort());
    expect(reached.size / all.length).toBeGreaterThanOrEqual(LEAST);
  }, 300_000);
});

/** How long a part of a step may take, in milliseconds. */
const PATIENCE_MS = 30_000;
const options = { timeout: PATIENCE_MS };
const FILE = {
  name: PICTURE,
  mimeType: 'image/png',
  buffer: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64'), // prettier-ignore
};

/** Goes the way of a step, and waits for the answer of its operation. */
async function take(page: Page, { calls, at, press, row, menu, drop, fill = {}, choose = [] }: Step): Promise<void> {
  const answered = page.waitForResponse(
    (response) => new URL(response.url()).pathname.replace('/trpc/', '').split(',').includes(calls) && response.ok(),
    options,
  );
  // it may fail before it is waited for
  answered.catch(() => undefined);
  await page.evaluate(`history.pushState({}, '', '/console${at}'); dispatchEvent(new PopStateEvent('popstate'))`);
  for (const name of choose) await page.getByRole('checkbox', { name: `Choose ${name}` }).check(options);
  if (drop !== undefined) await page.getByLabel('Add pictures').setInputFiles(FILE, options);
  if (press !== undefined) await page.getByRole('button', { name: press }).first().click(options);
  if (menu !== undefined) await chooseAction(page, row ?? 'More actions', menu);
  const dialog = page.getByRole('dialog');
  for (const [label, value] of Object.entries(fill)) await fillIn(dialog, label, value);
  const asks = (press !== undefined || menu !== undefined) && !/^(Mark|Remove)/.test(press ?? '');
  if (asks) await dialog.locator('form.operation-form button[type=submit]').click(options);
  await answered;
  if (!asks) return;
  const close = dialog.getByRole('button', { name: 'Close', exact: true });
  await Promise.race([dialog.waitFor({ state: 'detached', ...options }), close.click(options)]);
  await dialog.waitFor({ state: 'detached', ...options });
}

async function chooseAction(page: Page, of: string | RegExp, action: string): Promise<void> {
  const menu = page.getByRole('button', { name: of }).first();
  await menu.click(options);
  await page.getByRole('menuitem', { name: action, exact: true }).click(options);
}

/** Types a value into the field of a label, chooses it, or uploads it. */
async function fillIn(dialog: Locator, label: string, value: string): Promise<void> {
  if (label === '+') return dialog.getByRole('button', { name: value, exact: true }).click(options);
  const field = dialog.getByLabel(new RegExp(`^${label}( optional)?$`)).first();
  await field.waitFor(options);
  const kind = await field.evaluate((element: { tagName: string; type?: string }) => `${element.tagName} ${element.type ?? ''}`);
  if (kind.startsWith('SELECT')) await field.selectOption({ label: value }, options);
  else if (kind === 'INPUT file') {
    await field.setInputFiles(FILE, options);
    await dialog.getByText('Uploaded.').waitFor(options);
  } else await field.fill(value, options);
  if (kind === 'INPUT search') await dialog.getByRole('list', { name: 'Found' }).getByRole('button').first().click(options);
}
