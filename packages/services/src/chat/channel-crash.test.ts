import { startTestServer, type Person, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenTo, openChannel, say } from '../../test/chat-world.js';
import { recoverUnit, sendToDying } from '../../test/dying-unit.js';
import type { Channel } from './channels.schemas.js';
import type { Subscription } from './subscriptions.schemas.js';

let app: TestServer;
let admin: Person;
beforeAll(async () => {
  app = await startTestServer();
  admin = await app.signUpAdmin();
});
afterAll(() => app.close());

/** Somebody whose token is of this hour; so is the admin's from now on. */
async function prepare(): Promise<Person> {
  admin = await app.signIn(admin.email);
  return app.signUp();
}
const membersOf = async (channelId: string) =>
  (await admin.rest('GET', `/subscriptions?channelId=${channelId}`).expect<{ data: Subscription[] }>(200)).data;

describe('a process that is killed between two writes', { timeout: 60_000 }, () => {
  it.each([0, 1, 2])('of the making of a channel leaves nothing that stays: step %i', async (step) => {
    const ann = await prepare();
    const { accessToken } = ann;
    const body = { name: 'Tea', ownerId: ann.id };
    await sendToDying(app, 'channels.create', step, { method: 'POST', path: '/channels', accessToken, body });
    await recoverUnit(app);
    const path = `?ownerId=${ann.id}`;
    const { data } = await admin.rest('GET', `/channels${path}`).expect<{ data: Channel[] }>(200);
    expect(data).toEqual([]);
    const own = await admin.rest('GET', `/subscriptions?subscribedId=${ann.id}`).expect<{ data: object[] }>(200);
    expect(own.data).toEqual([]);
  });

  it.each([0, 1, 2])('of its deletion leaves what the sweep completes, and tells: step %i', async (step) => {
    const ann = await prepare();
    const { id } = await openChannel(ann, [admin]);
    const events = listenTo(app, id);
    const { accessToken } = ann;
    await sendToDying(app, 'channels.delete', step, { method: 'DELETE', path: `/channels/${id}`, accessToken });
    await recoverUnit(app);
    await admin.rest('GET', `/channels/${id}`).expect(404);
    expect(await membersOf(id)).toEqual([]);
    expect(events).toContainEqual({ type: 'channel.deleted', channelId: id });
  });

  it.each([0, 1, 2])('of its restoring leaves what the sweep completes: step %i', async (step) => {
    const ann = await prepare();
    const { id } = await openChannel(ann, [admin]);
    await say(ann, id);
    await ann.rest('DELETE', `/channels/${id}`).expect(204);
    const { accessToken } = admin;
    await sendToDying(app, 'channels.restore', step, { method: 'POST', path: `/channels/${id}/restore`, accessToken });
    await recoverUnit(app);
    await admin.rest('GET', `/channels/${id}/messages`).expect(200);
    expect(await membersOf(id)).toHaveLength(2);
  });
});
