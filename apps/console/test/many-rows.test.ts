import { HAS_CHROMIUM, fixture, startTestServer, storeCopies } from '@tandem/testing';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { DESKTOP, PHONE, expectClean, launchChromium, visitSignedIn } from './chromium.js';

/** Rows of the list, and of one of its pages. */
const [ROWS, PAGE] = [10_000, 100];
/** More rows than a window shows, and those that wait beyond its edges. */
const DRAWN = 80;

/** What a page went through while it was scrolled. */
interface Scrolling {
  /** The most table rows that stood in it at once. */
  rows: number;
  /** The longest time from one frame to the next, in milliseconds. */
  longestFrame: number;
  frames: number;
}

/** Whether to tell what was measured, beside an empty page: `MEASURE=1 npx vitest run --project faults <this file>`. */
const IS_MEASURED = process.env['MEASURE'] !== undefined;

/** Scrolls a box to its end, some rows each frame, as fast as it gets longer. */
const scroll = (page: Page, box: string, height: number) =>
  page.evaluate<Scrolling>(`new Promise((done) => {
    const box = document.querySelector(${JSON.stringify(box)});
    let [rows, longestFrame, frames, last] = [0, 0, 0, performance.now()];
    const step = (now) => {
      frames += 1;
      longestFrame = Math.max(longestFrame, now - last);
      last = now;
      rows = Math.max(rows, box.getElementsByTagName('tr').length);
      box.scrollTop += 600;
      if (box.scrollTop + box.clientHeight < ${height}) requestAnimationFrame(step);
      else done({ rows, longestFrame, frames });
    };
    requestAnimationFrame(step);
  })`);

/** An event of a trace: `tdur` is the CPU time of its thread, in microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  tdur?: number;
  args?: { name?: string };
}

/**
 * Runs something in a page. @returns what it answers, the longest tasks of the page's thread meanwhile, and the time of all of
 * them, in milliseconds of CPU: what else the machine does is not counted
 */
async function measured(page: Page, run: () => Promise<Scrolling>) {
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
  const answer = await run();
  const { traceEvents } = JSON.parse(String(await browser?.stopTracing())) as { traceEvents: TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const pages = new Set(traceEvents.filter(({ args }) => args?.name === 'CrRendererMain').map(threadOf));
  const tasks = traceEvents.filter((event) => event.name.endsWith('RunTask') && pages.has(threadOf(event)));
  const times = tasks.map(({ tdur = 0 }) => Math.round(tdur / 1000)).toSorted((one, other) => other - one);
  return { ...answer, longestTasks: times.slice(0, 5), allTasks: times.reduce((sum, time) => sum + time, 0) };
}

describe.skipIf(!HAS_CHROMIUM)('ten thousand rows (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);
  let admin: Awaited<ReturnType<typeof app.signUpAdmin>>;
  beforeAll(async () => {
    admin = await app.signUpAdmin();
    const product = { name: 'Tea', description: 'Leaves', price: { amount: 4, currency: 'EUR' } };
    const { id } = await admin.rest('POST', '/products', product).expect<{ id: string }>(201);
    await storeCopies({ mongodbUri: app.mongodbUri, of: id, count: ROWS - 1 }, 'products', (n) => ({
      name: `Tea number ${n}`,
      createdAt: new Date(Date.UTC(2020) + n * 1000),
    }));
  });

  it('that come into view at once show their names, and are drawn whole six in a frame', async () => {
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products', options: DESKTOP });
    const { page } = visitor;
    await page.getByRole('table').getByRole('row').nth(2).waitFor();
    const { waiting, names } = await page.evaluate<{ waiting: number[]; names: string[] }>(`new Promise((done) => {
      const box = document.querySelector('.table-box');
      const waiting = [];
      let names = [];
      const step = () => {
        const rows = [...box.querySelectorAll('tbody th[colspan]')];
        waiting.push(rows.length);
        if (rows.length > names.length) names = rows.map((row) => row.textContent);
        if (rows.length > 0 || names.length === 0) requestAnimationFrame(step);
        else done({ waiting, names });
      };
      box.scrollTop = ${50 * 48};
      requestAnimationFrame(step);
    })`);
    expect(names.length).toBeGreaterThan(12);
    for (const name of names) expect(name).toMatch(/^Tea number \d+$/);
    const drawn = waiting.map((count, n) => (waiting[n - 1] ?? 0) - count);
    expect(Math.max(...drawn)).toBe(6);
    expect(await page.locator('.table-box tbody .row-link').count()).toBeGreaterThanOrEqual(names.length);
    await expectClean(visitor);
  });

  it.each([
    ['a desktop', DESKTOP],
    ['a phone', PHONE],
  ])('are scrolled through on %s: few are drawn, and each page is asked for once', { timeout: 400_000 }, async (_, options) => {
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products', options });
    const { page } = visitor;
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/products.list')) asked.push(searchParams.get('input') ?? '');
    });
    await page.getByRole('table').getByRole('row').nth(2).waitFor();
    const { height } = await page.evaluate<{ height: number }>(
      'document.querySelector("tbody tr:not(.space)").getBoundingClientRect()',
    );
    const run = () => scroll(page, '.table-box', ROWS * height);
    const seen = await (IS_MEASURED ? measured(page, run) : run());
    await page.getByText('Tea number 0', { exact: true }).waitFor();
    expect(seen.rows).toBeLessThan(DRAWN);
    expect(asked).toHaveLength(new Set(asked).size);
    expect(asked.length).toBeLessThanOrEqual(ROWS / PAGE);
    await expectClean(visitor);
    if (!IS_MEASURED) return;
    await visitor.open('/nowhere');
    await page.getByText('There is no such page').waitFor();
    await page.evaluate(`{
      const box = document.querySelector('main').appendChild(document.createElement('div'));
      Object.assign(box, { id: 'empty' }).style.cssText = 'height: 30rem; overflow: auto';
      box.appendChild(document.createElement('div')).style.height = '${ROWS * height}px';
    }`);
    // oxlint-disable-next-line no-console -- what one has asked to be told
    console.log({ list: seen, empty: await measured(page, () => scroll(page, '#empty', ROWS * height)) });
  });
});
