import { fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it, vi } from 'vitest';
import { EXPIRY_MS, createClient, failureOf, newAccount } from '../test/clients.js';
import { mutationOptions } from './index.js';
import type { BeforeSending } from '../test/recording-fetch.js';

const app = fixture(startTestServer);

async function signedUp(before?: BeforeSending) {
  const made = createClient(app, before ? { before } : {});
  const { id } = await made.client.signUp(newAccount());
  const { api } = made.client;
  const input = { name: 'Tea', ownerId: id };
  const keys = () =>
    made.requests.flatMap(({ procedures, headers }) =>
      procedures.includes('chat.createChannel') ? [headers.get('idempotency-key')] : [],
    );
  const channels = async () => (await api.chat.listChannels.query({ memberId: id })).data.length;
  return { ...made, id, api, input, keys, channels };
}

describe('a call that creates', () => {
  it('has a key of its own and is sent alone, while others share a request', async () => {
    const { api, id, input, keys, requests, channels } = await signedUp();
    requests.length = 0;
    await Promise.all([
      api.chat.createChannel.mutate(input),
      api.chat.createChannel.mutate(input),
      api.notifications.unreadCount.query({ identityId: id }),
      api.identities.get.query({ identityId: id }),
    ]);
    expect(new Set(keys()).size).toBe(2);
    expect(keys()).not.toContain(null);
    expect(requests.map(({ procedures }) => procedures.length).toSorted((one, other) => one - other)).toEqual([1, 1, 2]);
    expect(await channels()).toBe(2);
  });

  it('is sent again with its key after a refresh, and once when its answer was lost', async () => {
    let lost = 0;
    const { api, input, keys, channels } = await signedUp();
    const {
      api: losing,
      input: own,
      keys: sent,
      channels: made,
    } = await signedUp(async ({ procedures }) => {
      if (procedures.includes('chat.createChannel') && lost++ === 0) throw new TypeError('fetch failed');
    });
    app.clock.advance(EXPIRY_MS);
    await api.chat.createChannel.mutate(input);
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(1);
    expect(await channels()).toBe(1);
    await losing.chat.createChannel.mutate(own);
    expect(new Set(sent()).size).toBe(1);
    expect(await made()).toBe(1);
  });

  it('is made as often as it is asked for with one input at a time, and once where it is tried again', async () => {
    let lost = 0;
    const { client, input, keys, channels } = await signedUp(async ({ procedures }) => {
      if (procedures.includes('chat.createChannel') && lost-- > 0) throw new TypeError('fetch failed');
    });
    const { mutationFn } = mutationOptions(client, 'chat.createChannel');
    await Promise.all([mutationFn(input), mutationFn(input)]);
    expect([new Set(keys()).size, await channels()]).toEqual([2, 2]);
    lost = 2;
    await failureOf(mutationFn(input));
    await mutationFn(input);
    expect([new Set(keys()).size, await channels()]).toEqual([3, 3]);
  });

  it('is not tried again in the name of another', async () => {
    let lost = 0;
    const { client, input, keys } = await signedUp(async ({ procedures }) => {
      if (procedures.includes('chat.createChannel') && lost-- > 0) throw new TypeError('fetch failed');
    });
    const { mutationFn } = mutationOptions(client, 'chat.createChannel');
    lost = 2;
    await failureOf(mutationFn(input));
    await client.signUp(newAccount());
    expect(await failureOf(mutationFn(input))).toMatchObject({ message: 'not sent again: its sender has signed out' });
    expect(keys()).toHaveLength(2);
  });

  it('has a key also where the platform has no `randomUUID`, as on a page without TLS, or no `crypto`', async () => {
    const { api, input, keys } = await signedUp();
    const { getRandomValues } = globalThis.crypto;
    for (const crypto of [{ getRandomValues: getRandomValues.bind(globalThis.crypto) }, undefined]) {
      vi.stubGlobal('crypto', crypto);
      await api.chat.createChannel.mutate(input).finally(() => vi.unstubAllGlobals());
    }
    expect(keys()).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(new Set(keys()).size).toBe(2);
  });

  it('is not sent again in the name of another who has signed in meanwhile', async () => {
    const made: Awaited<ReturnType<typeof signedUp>> = await signedUp(async ({ procedures }) => {
      if (!procedures.includes('chat.createChannel') || made.keys().length > 1) return;
      await made.client.signUp(newAccount());
      throw new TypeError('fetch failed');
    });
    const { api, input, keys } = made;
    expect(await failureOf(api.chat.createChannel.mutate(input))).toMatchObject({
      message: 'not sent again: its sender has signed out',
    });
    expect(keys()).toHaveLength(1);
  });

  it('takes the key that its caller gives', async () => {
    const { api, input, keys } = await signedUp();
    const context = { idempotencyKey: 'the caller’s'.replace('’', '') };
    const { id } = await api.chat.createChannel.mutate(input, { context });
    expect(await api.chat.createChannel.mutate(input, { context })).toMatchObject({ id });
    expect(await failureOf(api.chat.createChannel.mutate({ ...input, name: 'Coffee' }, { context }))).toMatchObject({
      status: 422,
      message: 'Idempotency-Key was used with another body',
    });
    expect(new Set(keys())).toEqual(new Set([context.idempotencyKey]));
  });
});
