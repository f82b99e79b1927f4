import { FACES, failing, fixture, newEmail, startTestServer, type Face, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { openChannel, say, subscribe, valueOf } from '../../test/chat-world.js';
import { makeRecord, recordKinds } from '../../test/record-kinds.js';
import type { DomainEvent } from './events.schemas.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
let admin: Person;
let ann: Person;
beforeAll(async () => {
  [admin, ann] = await Promise.all([app.signUpAdmin(), app.signUp()]);
});

interface Page {
  data: DomainEvent[];
  nextSince: string | null;
}
async function read(face: Face, input: Record<string, unknown> = {}, person = admin): Promise<Page> {
  return valueOf(await person.call(face, 'events.list', input)) as Page;
}

/** Resolves when the log has all that was acknowledged before. @returns the id of its last event */
async function appended(): Promise<string> {
  const since = (await app.storage.events.last()) ?? undefined;
  const group = { name: 'Marker', items: [{ key: 'k', value: 'v' }] };
  const marker = await admin.rest('POST', '/attributes', group).expect<{ id: string }>(201);
  return vi.waitFor(
    async () => {
      const { data } = await read('rest', { limit: 200, ...(since !== undefined && { since }) });
      const told = data.find(({ subject }) => subject.id === marker.id);
      expect(told).toBeDefined();
      return String(told?.id);
    },
    { timeout: 20_000 },
  );
}

/** What happens meanwhile, of one subject or of all. */
async function eventsOf(face: Face, act: () => Promise<unknown>, subject?: () => string): Promise<DomainEvent[]> {
  const since = await appended();
  await act();
  const until = await appended();
  const { data } = await read(face, { limit: 200, since });
  return data.filter(({ id, subject: of }) => id < until && (subject === undefined || of.id === subject()));
}
const typesOf = (events: readonly DomainEvent[]) => events.map(({ type }) => type);

const category = (name: string) => ({ name, description: '' });
const newOrganization = ({ id }: Person) => ({
  organization: { name: `Tea ${id}`, description: '', contact_email: newEmail() },
});

const KINDS = [
  'categories',
  'channels',
  'locations',
  'messages',
  'orders',
  'organizations',
  'products',
  'productVariants',
  'profiles',
] as const;

it('the log has a change of a channel, and not the record that numbers it', async () => {
  const { id, channelId } = await say(ann, (await openChannel(ann)).id);
  const since = await appended();
  await ann.rest('PATCH', `/messages/${id}`, { content: 'new' }).expect(200);
  await appended();
  const { events } = await app.storage.events.read({ since, limit: 200 });
  const ofChannel = events.filter(({ state }) => state['channelId'] === channelId);
  expect(ofChannel.map(({ type, subject }) => [type, subject.id])).toEqual([['message.updated', id]]);
});

describe.each(FACES)('events over %s', (face) => {
  it.each(KINDS)('of %s show what the own read of the record shows, for each change, in order', async (name) => {
    const kind = recordKinds(app, admin, ann)[name];
    let id = '';
    const seen: unknown[] = [];
    const events = await eventsOf(
      face,
      async () => {
        const { record, named } = await makeRecord(face, kind);
        ({ id } = record);
        const get = async () => seen.push(valueOf(await kind.person.call(face, kind.procedures.get, named)));
        await get();
        valueOf(await kind.person.call(face, kind.procedures.patch, { ...named, ...kind.other }));
        await get();
        valueOf(await admin.call(face, kind.procedures.delete, named));
        valueOf(await admin.call(face, kind.procedures.restore, named));
        await get();
      },
      () => id,
    );
    const one = String(events[0]?.type.split('.')[0]);
    expect(typesOf(events)).toEqual(['created', 'updated', 'deleted', 'restored'].map((change) => `${one}.${change}`));
    const shown = events.map(({ data }) => data);
    // what moves with each message is beside the record
    if (name === 'channels') for (const channel of seen as Record<string, unknown>[]) delete channel['lastChange'];
    if (name === 'messages') for (const message of seen as Record<string, unknown>[]) ['content', 'title'].map((text) => delete message[text]); // prettier-ignore
    expect([shown[0], shown[1], shown[3]]).toEqual(seen);
    expect(shown[2]).toMatchObject({ id });
    for (const event of events) {
      expect(event.subject).toEqual({ type: one, id });
      expect(event.actor).toEqual({ type: 'identity', id: expect.any(String) as string });
    }
  });

  it('tell of accounts without secrets, and of one that registers with no actor', async () => {
    let person: Person | undefined;
    const events = await eventsOf(
      face,
      async () => {
        person = await app.signUp();
        valueOf(await admin.call(face, 'identities.lock', { identityId: person.id }));
      },
      () => person?.id ?? '',
    );
    expect(typesOf(events)).toEqual(['identity.created', 'identity.updated']);
    expect(events[0]).toMatchObject({ actor: null, data: { email: person?.email, locked: false } });
    expect(events[1]).toMatchObject({ actor: { type: 'identity', id: admin.id }, data: { locked: true } });
    expect(JSON.stringify(events)).not.toMatch(/\$2b\$|passwordHash|Epoch|outbox|trace/);
  });

  it('tell of members of organizations and channels: joining, changing, leaving, joining again', async () => {
    const [bob, carl] = await Promise.all([app.signUp(), app.signUp()]);
    const organization = await ann.rest('POST', '/organizations', newOrganization(bob)).expect<{ id: string }>(201);
    const inOrganization = { organizationId: organization.id };
    const channel = await openChannel(ann);
    const events = await eventsOf(face, async () => {
      const members = (role: string) => ann.rest('PATCH', `/organizations/${organization.id}/members`, [{ identityId: bob.id, role }]); // prettier-ignore
      await members('member').expect(204);
      await members('admin').expect(204);
      valueOf(await ann.call(face, 'organizations.removeMember', { ...inOrganization, identityId: bob.id }));
      const { id } = await subscribe(ann, channel.id, carl.id);
      await carl.rest('DELETE', `/subscriptions/${id}`).expect(204);
      await subscribe(ann, channel.id, carl.id);
    });
    const told = events.filter(({ subject }) => ['member', 'subscription'].includes(subject.type));
    expect(told.map(({ type, organizationId, data }) => [type, organizationId, data['subscribedId'] ?? data['role']])).toEqual([
      ['member.created', organization.id, 'member'],
      ['member.updated', organization.id, 'admin'],
      ['member.deleted', organization.id, 'admin'],
      ['subscription.created', null, carl.id],
      ['subscription.deleted', null, carl.id],
      ['subscription.created', null, carl.id],
    ]);
    expect(told[4]?.data).toEqual(told[3]?.data);
    const left = app.storage.model((await import('../chat/subscription.model.js')).subscriptionModel).collection;
    expect(await left.countDocuments({ deletedAt: { $ne: null } })).toBe(0);
  });

  it('of what is deleted and restored with another tell of it, too', async () => {
    const product = await admin.rest('POST', '/products', { name: 'Rye', description: '' }).expect<{ id: string }>(201);
    const variant = await admin.rest('POST', `/products/${product.id}/variants`, { title: 'Small' }).expect<{ id: string }>(201);
    const events = await eventsOf(face, async () => {
      await admin.rest('DELETE', `/products/${product.id}`).expect(204);
      await admin.rest('POST', `/products/${product.id}/restore`).expect(200);
    });
    const told = events.filter(({ subject }) => [product.id, variant.id].includes(subject.id));
    expect(typesOf(told).toSorted()).toEqual(['product.deleted', 'product.restored', 'productVariant.deleted', 'productVariant.restored']); // prettier-ignore
  });

  it('of a page show the types asked for, and the rest by nextSince', async () => {
    const since = await appended();
    const names = ['a', 'b', 'c'];
    for (const name of names) await admin.rest('POST', '/categories', category(name)).expect(201);
    await admin.rest('POST', '/attributes', { name: 'x', items: [{ key: 'k', value: 'v' }] }).expect(201);
    const end = await appended();
    const asked = { types: 'category.created,location.*', limit: 2 };
    const first = await read(face, { ...asked, since });
    expect(first.data.map(({ data }) => data['name'])).toEqual(['a', 'b']);
    expect(first.nextSince).toBe(first.data[1]?.id);
    const second = await read(face, { ...asked, since: first.nextSince });
    expect(second.data.map(({ data }) => data['name'])).toEqual(['c']);
    // it moves on behind the attribute group, of which nothing was asked
    expect(String(second.nextSince) >= end).toBe(true);
    expect(await read(face, { ...asked, since: second.nextSince })).toEqual({ data: [], nextSince: second.nextSince });
  });

  it('of types that do not exist are 400', async () => {
    expect(await admin.call(face, 'events.list', { types: 'order.*,order.eaten,tea.created,*' })).toEqual({
      ...failing(400, 'Validation Error'),
      data: ['order.eaten', 'tea.created', '*'].map((name) => `query parameter 'types' names no type of events: '${name}'`),
    });
  });

  it('are read by admins, and by owners and admins of an organization where these are its own', async () => {
    const [owner, member, stranger] = await Promise.all([app.signUp(), app.signUp(), app.signUp()]);
    const { id: organizationId } = await owner.rest('POST', '/organizations', newOrganization(owner)).expect<{ id: string }>(201); // prettier-ignore
    await owner
      .rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId: member.id, role: 'member' }])
      .expect(204);
    await admin.rest('PATCH', `/admin/organizations/${organizationId}`, { privateMetadata: { credit: 7 } }).expect(200);
    const product = await owner.rest('POST', '/products', { name: 'Rye', description: '', organizationId }).expect<{ id: string }>(201); // prettier-ignore
    await owner.rest('POST', `/products/${product.id}/variants`, { title: 'Small' }).expect(201);
    await appended();
    const own = await read(face, { organizationId }, owner);
    expect(new Set(own.data.map((event) => event.organizationId))).toEqual(new Set([organizationId]));
    expect(typesOf(own.data)).toEqual([
      'organization.created',
      'member.created',
      'member.created',
      'organization.updated',
      'product.created',
      'productVariant.created',
    ]);
    expect(JSON.stringify(own)).not.toContain('credit');
    const whole = await read(face, { organizationId });
    expect(whole.data.find(({ type }) => type === 'organization.updated')?.data).toMatchObject({
      privateMetadata: { credit: 7 },
    });
    const refused = failing(403, 'Identity is not authorized to access this resource');
    for (const person of [member, stranger]) {
      expect(await person.call(face, 'events.list', { organizationId })).toEqual(refused);
      expect(await person.call(face, 'events.list', {})).toEqual(refused);
    }
    expect(await owner.call(face, 'events.list', {})).toEqual(refused);
  });

  it('leave out the texts of messages, unless the setting shows them', async () => {
    const channel = await openChannel(ann);
    const since = await appended();
    const { id } = await say(ann, channel.id, 'a secret');
    await appended();
    const asked = { since, types: 'message.*' };
    const { data } = await read(face, asked);
    expect(data).toMatchObject([{ type: 'message.created', subject: { id }, data: { channelId: channel.id } }]);
    expect(JSON.stringify(data)).not.toContain('a secret');
    await using shown = await startTestServer({ eventMessageTexts: true, clock: app.clock });
    const outcome = await shown.call(face, 'events.list', asked, admin.credentials);
    expect(valueOf(outcome)).toMatchObject({ data: [{ data: { content: 'a secret' } }] });
  });
});

describe('the log of events', () => {
  it('has each acknowledged change once, in the order of its record, of 200 by two instances at once', async () => {
    const since = await appended();
    const made = await Promise.all(
      [app, other].flatMap((server) =>
        Array.from({ length: 10 }, async (_, n) => {
          const at = admin.credentials;
          const { id } = await server.rest('POST', '/categories', category(`${n}`), at).expect<{ id: string }>(201);
          for (let change = 0; change < 9; change++)
            await server.rest('PATCH', `/categories/${id}`, { name: `${n}-${change}` }, at).expect(200);
          return id;
        }),
      ),
    );
    await appended();
    const events: DomainEvent[] = [];
    for (let at: string | null = since; ;) {
      const page = await read('rest', { since: at, limit: 200 });
      events.push(...page.data);
      if (page.data.length === 0) break;
      at = page.nextSince;
    }
    for (const id of made) {
      const own = events.filter(({ subject }) => subject.id === id).map(({ data }) => String(data['name']));
      const name = own[0] ?? '';
      expect(own).toEqual([name, ...Array.from({ length: 9 }, (_, change) => `${name}-${change}`)]);
    }
    const ids = events.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted());
  });

  it('keeps events for their time; who asks for what is gone is told so: 410', async () => {
    await using brief = await startTestServer({ eventRetention: '1h', clock: app.clock });
    const { id: first } = (await read('rest', { limit: 1 })).data[0] as DomainEvent;
    app.clock.advance(3_601_000);
    const kept = await app.signIn(admin.email);
    await kept.rest('POST', '/categories', category('later')).expect(201);
    await brief.storage.events.relay();
    await vi.waitFor(async () => {
      const asked = await brief.call('rest', 'events.list', { since: first }, kept.credentials);
      expect(asked.ok).toBe(false);
    });
    for (const face of FACES)
      expect(await brief.call(face, 'events.list', { since: first }, kept.credentials)).toMatchObject(
        failing(410, 'Events are no longer kept'),
      );
    expect((await read('rest', {}, kept)).data.map(({ data }) => data['name'])).toContain('later');
  });
});
