import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { launchChromium, visitSignedIn } from './chromium.js';
import { makeWorld, stepsOf, type Step } from './reach-steps.js';

describe.skipIf(!HAS_CHROMIUM)('the operations (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('are reached where their records are shown', async () => {
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
  }, 300_000);
});

/** How long a step may take, in milliseconds. */
const PATIENCE_MS = 8000;

/** Goes the way of a step, and waits for the answer of its operation. */
async function take(page: Page, { calls, at, press, row, menu, fill = {}, choose = [] }: Step): Promise<void> {
  const answered = page.waitForResponse(
    (response) => new URL(response.url()).pathname.replace('/trpc/', '').split(',').includes(calls) && response.ok(),
    { timeout: PATIENCE_MS },
  );
  // it may fail before it is waited for
  answered.catch(() => undefined);
  await page.evaluate(`history.pushState({}, '', '/console${at}'); dispatchEvent(new PopStateEvent('popstate'))`);
  const options = { timeout: PATIENCE_MS };
  for (const name of choose) await page.getByRole('checkbox', { name: `Choose ${name}` }).check(options);
  if (press !== undefined) await page.getByRole('button', { name: press }).first().click(options);
  if (menu !== undefined) {
    await page
      .getByRole('button', { name: row ?? 'More actions' })
      .first()
      .click(options);
    await page.getByRole('menuitem', { name: menu, exact: true }).click(options);
  }
  const dialog = page.getByRole('dialog');
  for (const [label, value] of Object.entries(fill)) {
    if (label === '+') {
      await dialog.getByRole('button', { name: value, exact: true }).click(options);
      continue;
    }
    const field = dialog.getByLabel(new RegExp(`^${label}( optional)?$`)).first();
    await field.waitFor(options);
    const kind = await field.evaluate(
      (element: { tagName: string; type?: string }) => `${element.tagName} ${element.type ?? ''}`,
    );
    if (kind.startsWith('SELECT')) await field.selectOption({ label: value }, options);
    else await field.fill(value, options);
    if (kind === 'INPUT search') await dialog.getByRole('list', { name: 'Found' }).getByRole('button').first().click(options);
  }
  if ((press !== undefined || menu !== undefined) && press?.startsWith('Mark') !== true) {
    const send = dialog.locator('form.operation-form button[type=submit]');
    await send.click(options);
  }
  await answered;
  const close = dialog.getByRole('button', { name: 'Close', exact: true });
  if (press === undefined && menu === undefined) return;
  await Promise.race([dialog.waitFor({ state: 'detached', ...options }), close.click(options)]);
  await dialog.waitFor({ state: 'detached', ...options });
}
