import { eachConnected } from './connection.js';
import type { Person } from './people.js';

/** Makes a channel of the first of these people, with all of them as members. @returns its id */
export async function openChannel(url: string, people: readonly Person[]): Promise<string> {
  const [owner, ...others] = people as [Person, ...Person[]];
  let channelId = '';
  await eachConnected(url, [owner], async (connection, { id: ownerId, accessToken }) => {
    const post = (path: string, body: object) =>
      connection.send({ method: 'POST', path, headers: { authorization: `Bearer ${accessToken}` }, body }, 201);
    const channel = await post('/channels', { name: 'a channel of the benchmark', ownerId });
    channelId = (JSON.parse(channel) as { id: string }).id;
    for (const { id: subscribedId } of others) await post('/subscriptions', { channelId, subscribedId });
  });
  return channelId;
}
