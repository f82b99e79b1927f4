import { randomUUID } from 'node:crypto';
import { openChannel } from '../channels.js';
import { connect, eachConnected, type Connection } from '../connection.js';
import { runLoad, type LoadClient } from '../load.js';
import type { Comparison } from '../rounds.js';
import { insert, record, type Stored } from '../rows.js';
import type { Scenario, Stage } from '../scenario.js';
import type { TimeComparison } from '../times.js';

const FEW = 1000;
const MANY = 100_000;
/** Warm-up requests: each page takes several queries. */
const WARM_UP_REQUESTS = 2000;

const MESSAGES = 50;

/** A page of messages of ten people, with the name and picture of each sender, and the channel, against the bare page. */
async function expandedPage({ tandem, people }: Stage): Promise<TimeComparison> {
  const members = people.slice(0, 10);
  const channelId = await openChannel(tandem.url, members);
  await eachConnected(tandem.url, members, async (connection, { id, accessToken }, at) => {
    const headers = { authorization: `Bearer ${accessToken}` };
    const post = (path: string, body: object) => connection.send({ method: 'POST', path, headers, body }, 201);
    await post('/profiles', { identityId: id, name: `Member ${at}` });
    for (let n = 0; n < MESSAGES / members.length; n++)
      await post('/messages', { channelId, senderId: id, content: `Message ${n}` });
  });
  // idle connections are closed, and the other comparisons take a while to prepare
  let connection: Promise<Connection> | undefined;
  const headers = { authorization: `Bearer ${members[0]?.accessToken}` };
  const path = `/messages?channelId=${channelId}&limit=${MESSAGES}`;
  const read = async (more = '') =>
    (await (connection ??= connect(tandem.url))).send({ method: 'GET', path: path + more, headers }, 200);
  return {
    name: '50 messages with senders and channel, against without',
    of: 'time',
    target: 1.4,
    against: 'without',
    run: () => read('&$expand=sender,channel'),
    runOther: () => read(),
  };
}

/**
 * Pages of followers and likers: of a target with 100,000 against one with 1,000, both on the server under test; and a
 * page with related records against one without.
 */
export const relationLists: Scenario<(Comparison | TimeComparison)[]> = async (stage) => {
  const { tandem, db, people } = stage;
  const expanded = await expandedPage(stage);
  const [asker] = people;
  if (!asker) throw new Error('nobody is signed in');
  const { id: identityId } = asker;
  // likers are visible to admins; a new admin takes effect within a second, and filling takes longer
  await db.collection<Stored>('identities').updateOne({ _id: identityId }, { $set: { typeId: 'admin' } });
  const profiles = Array.from({ length: MANY }, (_, at) => record(at, { identityId, name: `Follower ${at}` }));
  await insert(db, 'profiles', profiles);

  async function makeTarget(collection: string): Promise<string> {
    const target = record(0, { identityId, name: randomUUID(), description: '', contact_email: 'a@example.org', members: [], ownerNames: [randomUUID()] }); // prettier-ignore
    await insert(db, collection, [target]);
    return target._id;
  }
  const clients = (path: string): LoadClient[] =>
    people.map(() => ({
      expected: 200,
      next: () => ({ method: 'GET', path, headers: { authorization: `Bearer ${asker.accessToken}` } }),
    }));

  const comparisons: Comparison[] = [];
  for (const [name, targets, relations, key, pathOf] of [
    ['followers of a profile', 'profiles', 'profileFollows', 'followProfileId', (id: string) => `/profiles/${id}/followers`],
    [
      'followers of an organization',
      'organizations',
      'organizationFollows',
      'followOrganizationId',
      (id: string) => `/organizations/${id}/followers`,
    ],
    ['likers of a product', 'products', 'productLikes', 'likeProductId', (id: string) => `/products/${id}/likers`],
  ] as const) {
    // prettier-ignore
    const sideOf = async (count: number) => {
      const targetId = await makeTarget(targets);
      const rows = profiles.slice(-count).map(({ _id: profileId }, at) => record(at, { profileId, [key]: targetId }));
      await insert(db, relations, rows);
      return { process: tandem, run: (ms: number) => runLoad(tandem.url, clients(pathOf(targetId)), ms) };
    };
    const few = await sideOf(FEW);
    comparisons.push({
      name: `${name}: 100,000 against 1,000`,
      of: 'cpu',
      target: 1.3,
      warmUpRequests: WARM_UP_REQUESTS,
      tandem: await sideOf(MANY),
      bare: few,
    });
  }
  return [expanded, ...comparisons];
};
