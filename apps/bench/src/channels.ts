import { eachConnected, type Connection } from './connection.js';
import type { Somebody } from './people.js';

/** Connections over which members are made. */
const AT_ONCE = 8;

/** Makes a channel of the first of these people, with all of them as members. @returns its id */
export async function openChannel(url: string, people: readonly Somebody[]): Promise<string> {
  const [{ id: ownerId, accessToken }, ...others] = people as [Somebody, ...Somebody[]];
  const post = (connection: Connection, path: string, body: object) =>
    connection.send({ method: 'POST', path, headers: { authorization: `Bearer ${accessToken}` }, body }, 201);
  let channelId = '';
  await eachConnected(url, [ownerId], async (connection) => {
    const channel = await post(connection, '/channels', { name: 'a channel of the benchmark', ownerId });
    channelId = (JSON.parse(channel) as { id: string }).id;
  });
  const left = others.values();
  await eachConnected(url, Array.from({ length: Math.min(AT_ONCE, others.length) }), async (connection) => {
    for (const { id: subscribedId } of left) await post(connection, '/subscriptions', { channelId, subscribedId });
  });
  return channelId;
}
