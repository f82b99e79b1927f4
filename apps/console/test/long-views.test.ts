import { HAS_CHROMIUM, PASSWORD, PATIENCE, fixture, startTestServer, storeCopies } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { channelOfAnnAndBob } from './chat-people.js';
import { expectClean, hold, launchChromium, turnTo, visitSignedIn } from './chromium.js';

describe.skipIf(!HAS_CHROMIUM)('a page (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('shows a text that only looks like a time as it is', async () => {
    const [admin, ann] = [await app.signUpAdmin(), await app.signUp()];
    const names = ['2026-99-99T99:99:99', '2026-11-01T10:00:00Z is my name', '2026-99-99T99:99:99.999Z'];
    for (const name of names) await ann.rest('POST', '/profiles', { identityId: ann.id, name }).expect(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/profiles' });
    for (const name of names) await visitor.page.getByRole('row').getByText(name, { exact: true }).first().waitFor();
    await expectClean(visitor);
  });

  it('of the trash shows the latest deletion first, and nothing that was restored since', async () => {
    await using server = await startTestServer();
    const admin = await server.signUpAdmin();
    const makeAndDelete = async (names: string[]) => {
      const given = names.map((name) => ({ name, description: '', price: { amount: 1, currency: 'EUR' } }));
      const made = await admin.rest('POST', '/products/batch', given).expect<{ id: string }[]>(201);
      await admin
        .rest(
          'DELETE',
          '/products/batch',
          made.map(({ id }) => id),
        )
        .expect(204);
      return made;
    };
    const [first] = await makeAndDelete(Array.from({ length: 100 }, (_, at) => `Early ${at}`));
    await makeAndDelete(Array.from({ length: 100 }, (_, at) => `Late ${at}`));
    server.clock.advance(1000);
    await makeAndDelete(['Last']);
    await admin.rest('POST', `/products/${first?.id}/restore`).expect(200);
    await using visitor = await visitSignedIn(browser, server, { person: admin, path: '/trash' });
    const rows = visitor.page.getByRole('list', { name: 'Deleted records' }).getByRole('listitem');
    await rows.filter({ hasText: 'Last' }).waitFor();
    expect(await rows.count()).toBe(200);
    expect(await rows.first().innerText()).toContain('Last');
    expect(await rows.getByText('Early 0', { exact: true }).count()).toBe(0);
    await expectClean(visitor);
  });

  it('of the trash is read to its end, also where an event cannot be shown', async () => {
    await using server = await startTestServer();
    const admin = await server.signUpAdmin();
    const given = (name: string) => ({ name, description: '', price: { amount: 1, currency: 'EUR' } });
    const make = async (name: string) => (await admin.rest('POST', '/products', given(name)).expect<{ id: string }>(201)).id;
    const [of, last] = [await make('Copied'), await make('Last')];
    const remove = (ids: string[]) => admin.rest('DELETE', '/products/batch', ids).expect(204);
    const copies = async (count: number, change: Record<string, unknown>) => {
      const ids = await storeCopies({ mongodbUri: server.mongodbUri, of, count }, 'products', () => change);
      for (let at = 0; at < count; at += 100) await remove(ids.slice(at, at + 100));
    };
    await copies(1, { name: null });
    await copies(199, {});
    await remove([last]);
    await using visitor = await visitSignedIn(browser, server, { person: admin, path: '/trash' });
    const rows = visitor.page.getByRole('list', { name: 'Deleted records' }).getByRole('listitem');
    await rows.filter({ hasText: 'Last' }).waitFor();
    await expectClean(visitor);
  });

  it('of the trash shows what it can where a host has records that can be restored, and of which no events tell', async () => {
    const admin = await app.signUpAdmin();
    const given = { name: 'Found again', description: '', price: { amount: 1, currency: 'EUR' } };
    const { id } = await admin.rest('POST', '/products', given).expect<{ id: string }>(201);
    await admin.rest('DELETE', `/products/${id}`).expect(204);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/' });
    const { page } = visitor;
    visitor.allow('400');
    await page.route('**/openapi.json', async (route) => {
      const document = (await (await route.fetch()).json()) as { paths: Record<string, object> };
      const asHosts = (text: string) => text.replaceAll('productId', 'deliveryId').replaceAll('"products.', '"deliveries.');
      for (const path of ['', '/restore']) {
        const operations = JSON.stringify(document.paths[`/products/{productId}${path}`]);
        document.paths[`/deliveries/{deliveryId}${path}`] = JSON.parse(asHosts(operations)) as object;
      }
      await route.fulfill({ json: document });
    });
    const refused = page.waitForResponse((one) => one.url().includes('delivery.deleted'));
    await visitor.open('/trash');
    await refused;
    const rows = page.getByRole('list', { name: 'Deleted records' }).getByRole('listitem');
    await rows.filter({ hasText: 'Found again' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await expectClean(visitor);
  });

  it('that has long been open knows when a mute ends', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Long open');
    await using visitor = await visitSignedIn(browser, app, { person: bob, path: `/chat/${channelId}` });
    const { page } = visitor;
    await page.clock.install();
    await visitor.open(`/chat/${channelId}`);
    const composer = page.getByLabel('Message', { exact: true });
    await composer.waitFor();
    await page.clock.fastForward(3_600_000);
    const { data } = await ann
      .rest('GET', `/subscriptions?channelId=${channelId}`)
      .expect<{ data: { id: string; subscribedId: string }[] }>(200);
    const membership = data.find(({ subscribedId }) => subscribedId === bob.id)?.id;
    const mutedUntil = new Date(Date.now() + 3_660_000).toISOString();
    await ann.rest('PATCH', `/subscriptions/${membership}`, { mutedUntil }).expect(200);
    await page.getByText(/^You are muted here until/).waitFor();
    await page.clock.fastForward(120_000);
    await composer.waitFor();
    await expectClean(visitor);
  });

  it('that has long been open has addresses of files that work, of earlier messages and of threads too', async () => {
    const { ann, channelId, say } = await channelOfAnnAndBob(app, 'Open for long');
    const withFile = async (content: string, more: object = {}) => {
      const query = `contentType=text/plain&contentLength=3`;
      const { url, objectId } = await ann
        .rest('GET', `/channels/${channelId}/attachment-upload-url?${query}`)
        .expect<{ url: string; objectId: string }>(200);
      await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'tea' });
      return say(ann, content, { ...more, clientId: objectId, attachments: [{ objectId, type: 'text/plain' }] });
    };
    const { id: replyToId } = await withFile('With a file');
    await withFile('A reply', { replyToId });
    for (let at = 0; at < 60; at++) await say(ann, `Later ${at}`);
    await using visitor = await visitSignedIn(browser, app, { person: ann, path: `/chat/${channelId}` });
    const { page } = visitor;
    await page.clock.install();
    await visitor.open(`/chat/${channelId}`);
    await page.getByRole('button', { name: 'Show earlier messages' }).click();
    await page.getByRole('button', { name: '1 reply' }).click();
    const links = page.getByRole('list', { name: 'Attached files' }).getByRole('link');
    const addresses = async () => Promise.all((await links.all()).map(async (one) => (await one.getAttribute('href')) ?? ''));
    await expect.poll(async () => (await addresses()).length, PATIENCE).toBe(4);
    const before = await addresses();
    app.clock.advance(9.5 * 60_000);
    await page.clock.fastForward(9.5 * 60_000);
    await expect.poll(async () => (await addresses()).filter((one) => before.includes(one)), PATIENCE).toEqual([]);
    app.clock.advance(6 * 60_000);
    for (const address of await addresses()) expect((await fetch(address)).status).toBe(200);
    for (const address of before) expect((await fetch(address)).status).toBe(403);
    await expectClean(visitor);
  });

  it('asks once for a proof that two changes need, and makes both', async () => {
    const [admin, ann, bob] = [await app.signUpAdmin(), await app.signUp(), await app.signUp()];
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/identities/${ann.id}` });
    const { page } = visitor;
    app.clock.advance(11 * 60_000);
    const { rest } = await app.signIn(admin.email);
    // the clock passes the end of a ticket
    for (const text of ['403', '401', 'listen?ticket']) visitor.allow(text);
    const letGo = await hold(page, 'identities.patch*');
    const emails = [ann, bob].map(({ email }) => `new.${email}`);
    for (const [at, { id }] of [ann, bob].entries()) {
      await turnTo(page, `/identities/${id}`);
      await page.getByRole('button', { name: 'Edit' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: /^Email/ }).fill(emails[at] as string);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    letGo();
    await page.getByRole('dialog').getByLabel('Password').fill(PASSWORD);
    await page.getByRole('dialog').locator('button[type=submit]').click();
    const stored = async () => {
      const found = await Promise.all(
        [ann, bob].map(({ id }) => rest('GET', `/identities/${id}`).expect<{ email: string }>(200)),
      );
      return found.map(({ email }) => email);
    };
    await expect.poll(stored, PATIENCE).toEqual(emails);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await expectClean(visitor);
  });
});
