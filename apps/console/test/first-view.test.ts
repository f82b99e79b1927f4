import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { launchChromium, visit } from './chromium.js';

/** What the first view of somebody who signs in may load: scripts, styles, the font and pictures, compressed, in bytes. */
const BUDGET = 200_000;

describe.skipIf(!HAS_CHROMIUM)('the first view (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('loads no more than its budget', async () => {
    const admin = await app.signUpAdmin();
    await using visitor = await visit(browser, app);
    const { page } = visitor;
    const sizes = new Map<string, Promise<number>>();
    page.on('requestfinished', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/assets/'))
        sizes.set(
          pathname,
          request.sizes().then(({ responseBodySize }) => responseBodySize),
        );
    });
    await visitor.open('/');
    await visitor.signIn(admin.email);
    await page.getByRole('region', { name: 'Health' }).waitFor();
    await page.waitForLoadState('networkidle');
    const loaded = await Promise.all(sizes.values());
    expect(loaded.length).toBeGreaterThan(5);
    expect(loaded.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(BUDGET);
  });
});
