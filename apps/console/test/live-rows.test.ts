import { randomUUID } from 'node:crypto';
import { HAS_CHROMIUM, fixture, startTestServer, storeCopies } from '@tandem/testing';
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { personCalled } from './chat-people.js';
import { expectClean, interruptible, launchChromium, visitSignedIn } from './chromium.js';

const product = (name: string) => ({ name, description: 'Leaves', price: { amount: 4, currency: 'EUR' } });

/** Changes something until the page shows it: what changes before the page follows the events is not told. */
async function untilLive(shown: Locator, change: (n: number) => PromiseLike<{ status: number }>): Promise<void> {
  let n = 0;
  const isShown = async () => {
    expect((await change(n++)).status).toBe(200);
    return shown.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  };
  await expect.poll(isShown, { timeout: 30_000 }).toBe(true);
}

describe.skipIf(!HAS_CHROMIUM)('rows that others change (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('appear by themselves, and where one reads further down a button says so instead', async () => {
    const admin = await app.signUpAdmin();
    const other = await app.signUpAdmin();
    const { id } = await other.rest('POST', '/products', product('First')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products' });
    const { page } = visitor;
    const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
    await row('First').waitFor();
    await untilLive(row('Live'), (n) => other.rest('PATCH', `/products/${id}`, { name: `Live ${n}` }));
    await other.rest('POST', '/products', product('Second')).expect(201);
    await row('Second').waitFor();
    await other.rest('PATCH', `/products/${id}`, { name: 'Renamed' }).expect(200);
    await row('Renamed').waitFor();

    const past = (n: number) => ({ name: `Old ${n}`, createdAt: new Date(Date.UTC(2020) + n * 1000) });
    await storeCopies({ mongodbUri: app.mongodbUri, of: id, count: 150 }, 'products', past);
    await other.rest('PATCH', `/products/${id}`, { name: 'Renamed again' }).expect(200);
    await row('Old 149').waitFor();
    const [top, first] = ['document.querySelector(".table-box").scrollTop', 'document.querySelectorAll("[scope=row]")[15].textContent']; // prettier-ignore
    const unmoved = await page.evaluate<string>(first);
    await page.evaluate('document.querySelector(".table-box").scrollTop = 1500');
    await expect.poll(() => page.evaluate<string>(first)).not.toBe(unmoved);
    await page.waitForLoadState('networkidle');
    const before = [await page.evaluate(top), await page.evaluate(first)];
    await other.rest('POST', '/products', product('Third')).expect(201);
    await page.getByRole('button', { name: '1 change elsewhere: show' }).waitFor();
    expect([await page.evaluate(top), await page.evaluate(first)]).toEqual(before);
    await page.getByRole('button', { name: '1 change elsewhere: show' }).click();
    await row('Third').waitFor();
    await expectClean(visitor);
  });

  it('while the page was away for longer than events are kept appear once it is back, and are live again', async () => {
    await using brief = await startTestServer({ eventRetention: '1h', clock: app.clock });
    const [admin, other] = [await app.signUpAdmin(), await app.signUpAdmin()];
    const { id } = await other.rest('POST', '/products', product('Seen')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, brief, { person: admin, path: '/products' });
    const { page } = visitor;
    // its access token ends meanwhile, and is renewed
    visitor.allow('401');
    const { leave, comeBack } = await interruptible(page, /\/trpc/);
    const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
    await row('Seen').waitFor();
    await untilLive(row('Live'), (n) => other.rest('PATCH', `/products/${id}`, { name: `Live ${n}` }));
    const read = (query: string, by = other) => by.rest('GET', `/events?${query}`);
    const { nextSince } = await read('types=order.created').expect<{ nextSince: string }>(200);
    await leave();
    await other.rest('PATCH', `/products/${id}`, { name: 'Missed' }).expect(200);
    expect(await read(`since=${nextSince}`).expect(200)).toMatchObject({ data: [{ type: 'product.updated' }] });
    app.clock.advance(3_601_000);
    const later = await app.signIn(other.email);
    // an instance removes old events when it appends new ones
    const isGone = async () => {
      await brief.rest('PATCH', `/products/${id}`, { description: randomUUID() }, later.credentials).expect(200);
      return (await read(`since=${nextSince}`, later)).status === 410;
    };
    await expect.poll(isGone, { timeout: 30_000 }).toBe(true);
    expect(await row('Missed').count()).toBe(0);
    comeBack();
    await row('Missed').waitFor();
    await untilLive(row('Live again'), (n) => later.rest('PATCH', `/products/${id}`, { name: `Live again ${n}` }));
    await expectClean(visitor);
  });

  it('while the page was away appear once it is back, also where it had been told of none before', async () => {
    const [admin, other] = [await app.signUpAdmin(), await app.signUpAdmin()];
    const { id } = await other.rest('POST', '/products', product('Untold')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products' });
    const { page } = visitor;
    const { leave, comeBack, said } = await interruptible(page, /\/trpc/);
    const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
    await row('Untold').waitFor();
    await said('"started"');
    await leave();
    await other.rest('PATCH', `/products/${id}`, { name: 'Changed meanwhile' }).expect(200);
    comeBack();
    await row('Changed meanwhile').waitFor();
    await expectClean(visitor);
  });

  it('appear by another connection where one has died without a word', async () => {
    const [admin, other] = [await app.signUpAdmin(), await app.signUpAdmin()];
    const { id } = await other.rest('POST', '/products', product('Before')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products' });
    const { page } = visitor;
    await page.clock.install();
    const { mute, said } = await interruptible(page, /\/trpc/);
    const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
    await row('Before').waitFor();
    await said('"started"');
    mute();
    await other.rest('PATCH', `/products/${id}`, { name: 'Not told' }).expect(200);
    const isShown = async () => {
      await page.clock.fastForward(10_000);
      return row('Not told').count();
    };
    await expect.poll(isShown, { timeout: 30_000 }).toBe(1);
    await expectClean(visitor);
  });

  it('are seen on the way back to a list that was left a moment ago', async () => {
    const [admin, other] = [await app.signUpAdmin(), await app.signUpAdmin()];
    for (const name of ['Looked at', 'Behind']) await other.rest('POST', '/products', product(name)).expect(201);
    const { data } = await other.rest('GET', '/products?name=Behind').expect<{ data: [{ id: string }] }>(200);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products' });
    const { page } = visitor;
    const { said } = await interruptible(page, /\/trpc/);
    const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
    await row('Behind').waitFor();
    // what a list has read is new for a while
    await page.clock.install();
    await page.getByRole('link', { name: 'Looked at', exact: true }).click();
    await page.getByRole('article').getByText('Created').waitFor();
    await page.waitForLoadState('networkidle');
    await other.rest('PATCH', `/products/${data[0].id}`, { name: 'Changed behind' }).expect(200);
    await said('Changed behind');
    await page.clock.fastForward(1500);
    await page.goBack();
    await row('Changed behind').waitFor();
    await expectClean(visitor);
  });

  it('are seen in a tree', async () => {
    const [admin, other] = [await app.signUpAdmin(), await app.signUpAdmin()];
    const make = (name: string) => other.rest('POST', '/categories', { name, description: '' }).expect<{ id: string }>(201);
    const { id } = await make('Branch');
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/categories?view=tree' });
    const link = (name: RegExp) => visitor.page.getByRole('link', { name });
    await link(/^Branch/).waitFor();
    await untilLive(link(/^Live/), (n) => other.rest('PATCH', `/categories/${id}`, { name: `Live ${n}` }));
    await make('Second branch');
    await link(/^Second branch/).waitFor();
    await expectClean(visitor);
  });

  it('are counted in the groups of a list', async () => {
    const [admin, other] = [await app.signUpAdmin(), await app.signUpAdmin()];
    const { id } = await other.rest('POST', '/products', product('Grouped')).expect<{ id: string }>(201);
    const path = `/products?group=name&filter=${encodeURIComponent("contains(tolower(name), 'grouped')")}`;
    await using visitor = await visitSignedIn(browser, app, { person: admin, path });
    const group = (name: RegExp) => visitor.page.getByRole('rowheader', { name });
    await group(/^Grouped/).waitFor();
    await untilLive(group(/^Regrouped/), (n) => other.rest('PATCH', `/products/${id}`, { name: `Regrouped ${n}` }));
    await expectClean(visitor);
  });

  it('are seen among the bans of a channel', async () => {
    const [admin, other] = [await app.signUpAdmin(), await app.signUpAdmin()];
    const ann = await personCalled(app, 'Ann Archer');
    const channel = { name: 'Banned from', ownerId: other.id };
    const { id } = await other.rest('POST', '/channels', channel).expect<{ id: string }>(201);
    await other.rest('POST', `/channels/${id}/bans`, { identityId: ann.id }).expect(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/channels/${id}?tab=bans` });
    const { page } = visitor;
    const ban = page.getByRole('row', { name: /Ann Archer/ });
    await ban.waitFor();
    await page.getByRole('heading', { name: 'Banned from' }).waitFor();
    const renamed = page.getByRole('heading', { name: /^Renamed/ });
    await untilLive(renamed, (n) => other.rest('PATCH', `/channels/${id}`, { name: `Renamed ${n}` }));
    await other.rest('DELETE', `/channels/${id}/bans/${ann.id}`).expect(204);
    await ban.waitFor({ state: 'detached' });
    await expectClean(visitor);
  });

  it('say on the page of one that it was deleted, until it is restored', async () => {
    const [admin, other] = [await app.signUpAdmin(), await app.signUpAdmin()];
    const { id } = await other.rest('POST', '/products', product('Read')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/products/${id}` });
    const { page } = visitor;
    visitor.allow('404');
    await page.getByRole('heading', { name: 'Read' }).waitFor();
    const heading = page.getByRole('heading', { name: /^Live/ });
    await untilLive(heading, (n) => other.rest('PATCH', `/products/${id}`, { name: `Live ${n}` }));
    await other.rest('DELETE', `/products/${id}`).expect(204);
    await page.getByRole('main').getByRole('alert').waitFor();
    await other.rest('POST', `/products/${id}/restore`).expect(200);
    await page.getByRole('main').getByRole('alert').waitFor({ state: 'detached' });
    await heading.waitFor();
    await expectClean(visitor);
  });

  it('of one’s own in another tab appear as those of others do, also where one may not read events', async () => {
    await using server = await startTestServer({ authModes: { default: 'cookie' } });
    const ann = await app.signUp();
    const organization = { name: 'Tab shop', description: 'Tea', contact_email: 'tab@example.org' };
    const { id } = await ann.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, server, { person: ann, path: `/organizations/${id}` });
    const list = await visitor.page.context().newPage();
    await list.goto(`${server.url}/console/organizations`);
    await list.getByRole('row', { name: /Tab shop/ }).waitFor();
    await list.waitForLoadState('networkidle');
    const { page } = visitor;
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Branch name').fill('Second branch');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await list.getByRole('row', { name: /Second branch/ }).waitFor();
    const record = await visitor.page.context().newPage();
    await record.goto(`${server.url}/console/organizations/${id}`);
    await record.getByText('Second branch').waitFor();
    await record.waitForLoadState('networkidle');
    await page.getByRole('button', { name: 'Undo' }).click();
    await record.getByText('Second branch').waitFor({ state: 'detached' });
    await list.getByRole('row', { name: /Second branch/ }).waitFor({ state: 'detached' });
    await expectClean(visitor);
  });

  it('of an organization appear to its owner; who may not read events asks for none', async () => {
    const admin = await app.signUpAdmin();
    const [owner, stranger] = [await app.signUp(), await app.signUp()];
    const organization = { name: 'Live shop', description: 'Tea', contact_email: 'shop@example.org' };
    const { id } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: owner, path: `/organizations/${id}` });
    await visitor.page.getByRole('heading', { name: 'Live shop' }).waitFor();
    const tea = (n: number) => admin.rest('PATCH', `/organizations/${id}`, { description: `Tea ${n}` });
    await untilLive(visitor.page.getByText(/Tea \d/).first(), tea);
    await admin.rest('PATCH', `/organizations/${id}`, { description: 'Coffee' }).expect(200);
    await visitor.page.getByText('Coffee').waitFor();
    await expectClean(visitor);
    await using other = await visitSignedIn(browser, app, { person: stranger, path: '/products' });
    await other.page.getByRole('heading', { name: 'Products' }).waitFor();
    const asked: string[] = [];
    other.page.on('request', (request) => void asked.push(request.url()));
    other.page.on('websocket', (socket) => void asked.push(socket.url()));
    await other.page.reload();
    await other.page.getByRole('heading', { name: 'Products' }).waitFor();
    await other.page.waitForLoadState('networkidle');
    expect(asked.filter((url) => /events|connectionParams/.test(url))).toEqual([]);
    await expectClean(other);
  });
});
