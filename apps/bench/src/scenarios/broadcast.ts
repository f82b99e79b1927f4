import { openChannel } from '../channels.js';
import { connect } from '../connection.js';
import { signUp } from '../people.js';
import type { TimesScenario } from '../scenario.js';
import { allTold, openReader, openSocket, openSockets } from '../sockets.js';

const READERS = 1000;
/** An identity may have a hundred streams. */
const PEOPLE = 12;
const CONTENT = 'x'.repeat(200);

/** Keys that each person reacts with in turn, before it takes them back. */
const KEYS = 10;

/**
 * One message to a thousand readers, timed until the last has it, against a bare `ws` server that sends the same bytes;
 * and a reaction, against a message.
 */
export const broadcast: TimesScenario = async ({ tandem, bare }) => {
  const people = await signUp(tandem.url, PEOPLE);
  const channelId = await openChannel(tandem.url, people);
  const tokenOf = (turn: number) => people[turn % PEOPLE]?.accessToken;
  const readers = await openSockets(READERS, (turn) => openReader(tandem.url, channelId, tokenOf(turn)));
  // a stream accepts fifty frames a second
  const senders = await openSockets(PEOPLE - 2, (turn) => openSocket(tandem.url, '/messages/listen', tokenOf(turn)));
  const others = await openSockets(READERS, () => openSocket(bare.url, '/broadcast'));
  let turn = 0;

  async function run(): Promise<void> {
    const clientId = `message-${++turn}-`;
    const told = allTold(readers, clientId);
    senders[turn % senders.length]?.send(JSON.stringify({ type: 'message.create', channelId, content: CONTENT, clientId }));
    await told;
  }
  const [bytes] = await Promise.all([new Promise<number>((resolve) => readers[0]?.once('message', (text: Buffer) => resolve(text.length))), run()]); // prettier-ignore

  async function runOther(): Promise<void> {
    const mark = `message-${++turn}-`;
    const told = allTold(others, mark);
    others[0]?.send(mark.padEnd(bytes, 'x'));
    await told;
  }

  const post = { channelId, senderId: people[0]?.id, content: CONTENT };
  const authorization = (person: number) => ({ authorization: `Bearer ${tokenOf(person)}` });
  // an idle connection would not outlast the comparisons before
  async function begin() {
    const connection = await connect(tandem.url);
    const posted = await connection.send({ method: 'POST', path: '/messages', headers: authorization(0), body: post }, 201);
    return { connection, messageId: (JSON.parse(posted) as { id: string }).id };
  }
  let begun: ReturnType<typeof begin> | undefined;
  let reaction = 0;
  async function react(): Promise<void> {
    const { connection, messageId } = await (begun ??= begin());
    const [person, key] = [reaction % PEOPLE, Math.floor(reaction / PEOPLE) % KEYS];
    const method = Math.floor(reaction / (PEOPLE * KEYS)) % 2 === 0 ? 'PUT' : 'DELETE';
    reaction += 1;
    const told = allTold(readers, '"type":"reaction.');
    await connection.send({ method, path: `/messages/${messageId}/reactions/k${key}`, headers: authorization(person) }, 204);
    await told;
  }
  async function say(): Promise<void> {
    const { connection } = await (begun ??= begin());
    const clientId = `message-${++turn}-`;
    const told = allTold(readers, clientId);
    await connection.send({ method: 'POST', path: '/messages', headers: authorization(0), body: { ...post, clientId } }, 201);
    await told;
  }
  const shared = { of: 'time', against: 'bare ws', run, runOther } as const;
  return [
    // 0.9 times its rate
    { ...shared, name: 'message to 1,000 readers', target: 1 / 0.9 },
    { ...shared, name: 'message to 1,000 readers, p99', target: 2, share: 0.99 },
    { name: 'reaction to 1,000 readers', of: 'time', target: 1.2, against: 'a message', run: react, runOther: say },
  ];
};
