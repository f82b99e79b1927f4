import { randomUUID } from 'node:crypto';
import { HAS_CHROMIUM, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { expectClean, launchChromium, visitSignedIn } from './chromium.js';

const product = (name: string) => ({ name, description: 'Leaves', price: { amount: 4, currency: 'EUR' } });

describe.skipIf(!HAS_CHROMIUM)('the view of events (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('shows what comes after it was away for longer than events are kept', async () => {
    await using brief = await startTestServer({ eventRetention: '1h', clock: app.clock });
    const [admin, other] = [await app.signUpAdmin(), await app.signUpAdmin()];
    const { id } = await other.rest('POST', '/products', product('Seen')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, brief, { person: admin, path: '/events' });
    const { page } = visitor;
    // it is away, its access token ends meanwhile, and what it asks for next is gone
    for (const text of ['net::ERR_FAILED', '401', '410']) visitor.allow(text);
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await row('Seen').first().waitFor();
    const { nextSince } = await other.rest('GET', '/events').expect<{ nextSince: string }>(200);
    await page.route('**/trpc/*events.list*', (route) => route.abort());
    await other.rest('PATCH', `/products/${id}`, { name: 'Missed' }).expect(200);
    expect(await other.rest('GET', `/events?since=${nextSince}`).expect(200)).toMatchObject({ data: [{}] });
    app.clock.advance(2 * 3_600_000);
    const later = await app.signIn(other.email);
    const isGone = async () => {
      await brief.rest('PATCH', `/products/${id}`, { name: `Later ${randomUUID()}` }, later.credentials).expect(200);
      return (await later.rest('GET', `/events?since=${nextSince}`)).status === 410;
    };
    await expect.poll(isGone, { timeout: 30_000 }).toBe(true);
    await page.unroute('**/trpc/*events.list*');
    await row('Later').first().waitFor();
    await expectClean(visitor);
  });

  it('begins with the latest, however many there were before', async () => {
    const makeMany = async (by: Person, times: number, last: string) => {
      const many = Array.from({ length: 100 }, (_, n) => product(`Tea ${n}`));
      for (let n = 0; n < times; n += 1) await by.rest('POST', '/products/batch', many).expect(201);
      const { id } = await by.rest('POST', '/categories', { name: last, description: '' }).expect<{ id: string }>(201);
      const told = async () => {
        const { data } = await by.rest('GET', '/events?types=category.created').expect<{ data: object[] }>(200);
        return data.at(-1);
      };
      await expect.poll(told).toMatchObject({ subject: { id } });
      return id;
    };
    await makeMany(await app.signUpAdmin(), 8, 'Old');
    app.clock.advance(2 * 24 * 3_600_000);
    const admin = await app.signUpAdmin();
    const id = await makeMany(admin, 1, 'The latest');
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/' });
    const { page } = visitor;
    await page.clock.setSystemTime(app.clock.now());
    let asked = 0;
    page.on('request', (request) => {
      if (decodeURIComponent(request.url()).includes('"limit":200')) asked += 1;
    });
    await visitor.open('/events');
    await page.getByRole('listitem').filter({ hasText: 'The latest' }).waitFor();
    // of the last minute or hour
    expect(asked).toBeLessThanOrEqual(2);
    await admin.rest('PATCH', `/categories/${id}`, { name: 'Still later' }).expect(200);
    await page.getByRole('listitem').filter({ hasText: 'Still later' }).waitFor();
    await expectClean(visitor);
  });
});
