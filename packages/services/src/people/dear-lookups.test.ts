import { BESIDE } from '@tandem/storage';
import { FACES, fixture, startTestServer, type Face, type Person as Caller } from '@tandem/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { valueOf } from '../../test/chat-world.js';
import { subscriptionModel } from '../chat/subscription.model.js';
import { organizationModel } from '../organizations/organization.model.js';
import type { Person } from './people.schemas.js';

/** Requests at once, and the people asked for in each. */
const STORM = 10;
const ASKED = 100;

type Stage = Record<string, Record<string, unknown>>;
interface Told {
  requestId: number;
  commandName: string;
  command: { aggregate?: string; pipeline?: Stage[]; comment?: string };
}

const home = fixture(startTestServer);
/** Another instance, whose commands are watched. */
const app = fixture(() =>
  startTestServer({ mongodbUri: `${home.mongodbUri}${home.mongodbUri.includes('?') ? '&' : '?'}monitorCommands=true` }),
);

/** Which aggregates are watched: those under way, the most there were at once, and all that there were. */
let isWatched = (_: string, __: Stage[]): boolean => false;
const underWay = new Set<number>();
let most = 0;
let all = 0;
beforeAll(() => {
  const client = app.storage.model(subscriptionModel).db.getClient();
  client.on('commandStarted', ({ requestId, command: { aggregate = '', pipeline = [], comment } }: Told) => {
    if (comment === BESIDE.comment || !isWatched(aggregate, pipeline)) return;
    underWay.add(requestId);
    most = Math.max(most, underWay.size);
    all += 1;
  });
  for (const end of ['commandSucceeded', 'commandFailed'])
    client.on(end, ({ requestId }: Told) => void underWay.delete(requestId));
});
beforeEach(() => {
  underWay.clear();
  most = all = 0;
});

const times = () => ({ createdAt: new Date(), updatedAt: new Date(), deletedAt: null, deletionId: null });
const strangers = Array.from({ length: ASKED - 1 }, () => crypto.randomUUID());

/** Puts the viewer into channels, two of them with the others. */
async function join(viewer: Caller, channels: number, others: readonly string[]): Promise<void> {
  const of = (channelId: string, subscribedId: string) => ({
    _id: crypto.randomUUID(),
    channelId,
    subscribedId,
    readSeq: 0,
    ...times(),
  });
  const ids = Array.from({ length: channels }, () => crypto.randomUUID());
  const rows = [...ids.map((id) => of(id, viewer.id)), ...others.flatMap((other) => ids.slice(0, 2).map((id) => of(id, other)))];
  await app.storage.model(subscriptionModel).collection.insertMany(rows as never[]);
}

async function found(organizations: number, members: readonly string[]): Promise<void> {
  const rows = Array.from({ length: organizations }, (_, n) => ({
    _id: crypto.randomUUID(),
    name: String(n),
    description: '',
    members: members.map((identityId) => ({ identityId, role: 'member', joinedAt: new Date() })),
    ownerNames: [crypto.randomUUID()],
    ...times(),
  }));
  await app.storage.model(organizationModel).collection.insertMany(rows as never[]);
}

/** Asks for people many times at once, as one caller does who wants others to wait. */
async function storm(face: Face, viewer: Caller, ids: readonly string[]): Promise<string[][]> {
  const { accessToken } = viewer;
  const input = face === 'rest' ? { ids: ids.join(',') } : { ids: [...ids] };
  const asking = Array.from({ length: STORM }, () => app.call(face, 'people.list', input, { accessToken }));
  return (await Promise.all(asking)).map((outcome) => (valueOf(outcome) as { data: Person[] }).data.map(({ id }) => id));
}

const has = (stages: Stage[], name: string) => stages.some((stage) => name in stage);

describe.each(FACES)('a lookup of people over %s', (face) => {
  it.each([
    ['of 5,100 pairs of channels and people waits for the one before it', 51, true],
    ['of 5,000 pairs waits for none', 50, false],
  ])('%s', async (_, channels, waits) => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    await join(ann, channels, [...strangers, bob.id]);
    isWatched = (collection, stages) => collection === 'subscriptions' && has(stages, '$group');
    expect(await storm(face, ann, [...strangers, bob.id])).toEqual(Array.from({ length: STORM }, () => [bob.id]));
    expect(all).toBe(STORM);
    expect(most === 1).toBe(waits);
  });

  it('reads more than 500 channels of its caller one after the other', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    await join(ann, 501, [bob.id]);
    isWatched = (collection, stages) => collection === 'subscriptions' && !has(stages, '$group');
    expect(await storm(face, ann, [bob.id])).toEqual(Array.from({ length: STORM }, () => [bob.id]));
    expect(all).toBe(STORM);
    expect(most).toBe(1);
  });

  it('reads more than 50 organizations of its caller one after the other', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    await found(51, [ann.id, bob.id]);
    isWatched = (collection, stages) =>
      collection === 'organizations' &&
      !has(stages, '$limit') &&
      JSON.stringify(stages).includes(`"members.identityId":"${ann.id}"`);
    expect(await storm(face, ann, [bob.id])).toEqual(Array.from({ length: STORM }, () => [bob.id]));
    expect(all).toBe(STORM);
    expect(most).toBe(1);
  });
});
