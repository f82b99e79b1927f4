import { fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { createClient, failureOf, newAccount } from '../test/clients.js';
import { versionOf } from './index.js';

const app = fixture(startTestServer);

async function withChannel() {
  const { client, requests } = createClient(app);
  const { id: ownerId } = await client.signUp(newAccount());
  const { api } = client;
  const created = await api.chat.createChannel.mutate({ name: 'Tea', ownerId });
  return { api, requests, ownerId, created, channelId: created.id };
}

describe('a change of a record', () => {
  it('takes place in the version that was read, and is refused in every other', async () => {
    const { api, channelId } = await withChannel();
    const read = await api.chat.getChannel.query({ channelId }, { context: { versioned: true } });
    const ifMatch = versionOf(read);
    const changed = await api.chat.patchChannel.mutate({ channelId, name: 'Coffee' }, { context: { ifMatch } });
    const late = await failureOf(api.chat.patchChannel.mutate({ channelId, name: 'Cocoa' }, { context: { ifMatch } }));
    expect(late).toMatchObject({ status: 412, message: 'Precondition Failed', code: 'request.preconditionFailed' });
    expect(await api.chat.getChannel.query({ channelId })).toMatchObject({ name: 'Coffee' });
    // the answer of a change has a version too
    await api.chat.patchChannel.mutate({ channelId, name: 'Cocoa' }, { context: { ifMatch: versionOf(changed) } });
  });

  it('of twenty at once in one version takes place once', async () => {
    const { api, created, channelId } = await withChannel();
    const context = { ifMatch: versionOf(created) };
    const changes = Array.from({ length: 20 }, (_, n) => api.chat.patchChannel.mutate({ channelId, name: `${n}` }, { context }));
    const outcomes = await Promise.allSettled(changes);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

it('reads with versions are sent alone, and others share a request', async () => {
  const { api, ownerId, channelId, requests } = await withChannel();
  requests.length = 0;
  await Promise.all([
    api.chat.getChannel.query({ channelId }, { context: { versioned: true } }),
    api.chat.getChannel.query({ channelId }),
    api.identities.get.query({ identityId: ownerId }),
  ]);
  expect(requests.map(({ procedures }) => procedures.length).toSorted((one, other) => one - other)).toEqual([1, 2]);
});

it('a copy of an answer has no version, nor has an answer that came with others', async () => {
  const { api, created, channelId } = await withChannel();
  const [read] = await Promise.all([api.chat.getChannel.query({ channelId }), api.chat.getChannel.query({ channelId })]);
  for (const answer of [read, { ...created }])
    expect(() => versionOf(answer)).toThrow('no version is known: read with { context: { versioned: true } }');
});
