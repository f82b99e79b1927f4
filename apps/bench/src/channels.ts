import http from 'node:http';
import { send, type LoadRequest } from './load.js';
import type { Person } from './people.js';

/** Makes a channel of the first of these people, whose members they all are. @returns its id */
export async function openChannel(url: string, people: readonly Person[]): Promise<string> {
  const agent = new http.Agent({ keepAlive: true });
  const [owner, ...others] = people as [Person, ...Person[]];
  async function post(path: string, body: object): Promise<{ id: string }> {
    const headers = { authorization: `Bearer ${owner.accessToken}` };
    const { status, text } = await send(agent, url, { method: 'POST', path, headers, body } satisfies LoadRequest);
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
    return JSON.parse(text) as { id: string };
  }
  try {
    const { id: channelId } = await post('/channels', { name: 'a channel of the benchmark', ownerId: owner.id });
    for (const { id: subscribedId } of others) await post('/subscriptions', { channelId, subscribedId });
    return channelId;
  } finally {
    agent.destroy();
  }
}
