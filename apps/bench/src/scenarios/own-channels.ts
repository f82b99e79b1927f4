import type { WebSocket } from 'ws';
import { connect } from '../connection.js';
import { signUp, type Person } from '../people.js';
import type { TimesScenario } from '../scenario.js';
import { openSocket, openSockets } from '../sockets.js';

const CHANNELS = 500;
/** A stream takes fifty frames a second. */
const STREAMS = 4;
/** The most rows that a page has. */
const PAGE = 50;

/** What is unread in all of somebody's channels, by one's own stream, against one page of them. */
export const ownChannels: TimesScenario = async ({ tandem }) => {
  const [reader, writer] = (await signUp(tandem.url, 2)) as [Person, Person];
  const connection = await connect(tandem.url);
  const post = (path: string, body: object) =>
    connection.send({ method: 'POST', path, headers: { authorization: `Bearer ${writer.accessToken}` }, body }, 201);
  for (let n = 0; n < CHANNELS; n++) {
    const made = await post('/channels', { name: `channel ${n}`, ownerId: writer.id });
    const { id: channelId } = JSON.parse(made) as { id: string };
    await post('/subscriptions', { channelId, subscribedId: reader.id });
    await post('/messages', { channelId, senderId: writer.id, content: 'a message of the benchmark' });
  }
  const streams = await openSockets(STREAMS, () => openSocket(tandem.url, '/messages/listen', reader.accessToken));
  let turn = 0;

  async function run(): Promise<void> {
    const stream = streams[turn++ % STREAMS] as WebSocket;
    let left = CHANNELS;
    const told = new Promise<void>((resolve) => {
      function take(text: Buffer): void {
        if (!text.includes('"type":"unread"') || --left > 0) return;
        stream.off('message', take);
        resolve();
      }
      stream.on('message', take);
    });
    stream.send('{"type":"subscribe","self":true}');
    await told;
    stream.send('{"type":"unsubscribe","self":true}');
  }
  const headers = { authorization: `Bearer ${reader.accessToken}` };
  const path = `/channels?memberId=${reader.id}&limit=${PAGE}`;
  const runOther = () => connection.send({ method: 'GET', path, headers }, 200);
  return [{ name: `unread of ${CHANNELS} channels`, of: 'time', target: 2, against: `a page of ${PAGE}`, run, runOther }];
};
