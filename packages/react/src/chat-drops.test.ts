import { fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { channelOf, contents } from '../test/channels.js';
import { render } from '../test/render.js';
import { tokensOf } from '../test/tokens.js';
import { useChannel } from './index.js';

const app = fixture(startTestServer);
const services = fixture(() => app.tandem.services);

describe('useChannel', () => {
  it('is live again after one was removed from the channel and added again', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(bob);
    const of = { channelId, subscribedId: ann.id };
    const { id } = await bob.rest('POST', '/subscriptions', of).expect<{ id: string }>(201);
    const { until, queries } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann) });
    await until(({ messages }) => messages !== undefined);
    await services.chat.post({ channelId, senderId: bob.id, content: 'Tea?' });
    await until(({ messages }) => messages?.length === 1);
    await bob.rest('DELETE', `/subscriptions/${id}`).expect(204);
    await until(({ error }) => error?.status === 403);
    await bob.rest('POST', '/subscriptions', of).expect(201);
    await queries.invalidateQueries();
    await until(({ error }) => error === null);
    await services.chat.post({ channelId, senderId: bob.id, content: 'Coffee?' });
    const { messages } = await until((channel) => channel.messages?.length === 2);
    expect(contents(messages)).toEqual(['Tea?', 'Coffee?']);
  });
});
