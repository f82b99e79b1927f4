import { FACES, NOT_SIGNED_IN, NO_ID, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { openChannel, say, subscribe } from '../../test/chat-world.js';
import { signUpAll } from '../../test/people.js';
import type { Channel } from './channels.schemas.js';
import type { Message } from './messages.schemas.js';
import type { Subscription } from './subscriptions.schemas.js';

const WHO = ['stranger', 'member', 'guest', 'author', 'former', 'moderator', 'owner', 'admin'] as const;
type Who = (typeof WHO)[number];
const MEMBERS: readonly Who[] = ['member', 'guest', 'author', 'moderator', 'owner'];
/**
 * Who may call what, of the owner's channel, of a message of the author in it, and of the member's subscription. The guest is a member, and
 * writes nothing; the former one was a member, and wrote the message that is asked for where a name ends in an asterisk;
 * with a plus, a role is given.
 */
const ALLOWED: Record<string, readonly Who[]> = {
  createChannel: ['owner', 'admin'],
  openDirectChannel: ['stranger', 'member', 'author', 'moderator', 'former', 'owner', 'admin'],
  listChannels: ['owner', 'admin'],
  getChannel: [...MEMBERS, 'admin'],
  patchChannel: ['owner', 'admin'],
  deleteChannel: ['owner', 'admin'],
  restoreChannel: ['admin'],
  channelIconUploadUrl: ['owner', 'admin'],
  listMessagesOfChannel: MEMBERS,
  readState: MEMBERS,
  markRead: ['member'],
  createSubscription: ['owner', 'admin'],
  listSubscriptions: [...MEMBERS, 'admin'],
  getSubscription: ['member', 'moderator', 'owner', 'admin'],
  patchSubscription: ['moderator', 'owner', 'admin'],
  'patchSubscription+': ['owner', 'admin'],
  deleteSubscription: ['member', 'owner', 'admin'],
  createBan: ['moderator', 'owner', 'admin'],
  listBans: ['moderator', 'owner', 'admin'],
  deleteBan: ['moderator', 'owner', 'admin'],
  createReport: ['member', 'author', 'moderator', 'owner'],
  listReports: ['admin'],
  getReport: ['admin'],
  patchReport: ['admin'],
  createMessage: ['member'],
  listMessages: MEMBERS,
  listReplies: MEMBERS,
  listPins: MEMBERS,
  pinMessage: ['moderator', 'owner', 'admin'],
  unpinMessage: ['moderator', 'owner', 'admin'],
  listMessageVersions: MEMBERS,
  getMessage: [...MEMBERS, 'admin'],
  patchMessage: ['author'],
  deleteMessage: ['author', 'moderator', 'owner', 'admin'],
  restoreMessage: ['admin'],
  attachmentUploadUrl: ['author'],
  addAttachment: ['author'],
  removeAttachment: ['author', 'admin'],
  addReaction: ['member', 'author', 'moderator', 'owner'],
  removeReaction: ['member', 'author', 'moderator', 'owner'],
  'getMessage*': [...MEMBERS, 'admin'],
  'patchMessage*': [],
  'deleteMessage*': ['former', 'moderator', 'owner', 'admin'],
  'addAttachment*': [],
  'addReaction*': ['member', 'author', 'moderator', 'owner'],
};

const app = fixture(startTestServer);
const people = fixture(() => signUpAll(app, WHO));
let channel: Channel;
let message: Message;
let formers: Message;
let subscription: Subscription;
beforeAll(async () => {
  channel = await openChannel(people.owner, [people.guest, people.author]);
  subscription = await subscribe(people.owner, channel.id, people.member.id);
  const moderates = await subscribe(people.owner, channel.id, people.moderator.id);
  await people.owner.rest('PATCH', `/subscriptions/${moderates.id}`, { role: 'moderator' }).expect(200);
  const was = await subscribe(people.owner, channel.id, people.former.id);
  [message, formers] = [await say(people.author, channel.id), await say(people.former, channel.id)];
  await people.former.rest('DELETE', `/subscriptions/${was.id}`).expect(204);
});

/** What a procedure is called with: nothing of it is missing, and nothing in it is good enough to be done. */
function inputOf(name: string): Record<string, unknown> {
  const ids = { channelId: channel.id, messageId: name.endsWith('*') ? formers.id : message.id };
  const bad = { foo: 1 };
  switch (name) {
    case 'createChannel':
    case 'listChannels':
      return { ownerId: people.owner.id, ...bad };
    case 'createBan':
    case 'deleteBan':
      return { channelId: ids.channelId, identityId: people.stranger.id, ...bad };
    case 'listReports':
      return { page: 0 };
    case 'getReport':
    case 'patchReport':
      return { reportId: NO_ID, ...bad };
    case 'createReport':
      return { messageId: ids.messageId, ...bad };
    case 'patchSubscription+':
      return { subscriptionId: subscription.id, role: 'moderator', ...bad };
    case 'createSubscription':
      return { channelId: ids.channelId, subscribedId: people.stranger.id, ...bad };
    case 'listSubscriptions':
    case 'listBans':
    case 'listMessages':
      return { channelId: ids.channelId, page: 0 };
    case 'createMessage':
      return { channelId: ids.channelId, senderId: people.member.id, ...bad };
    case 'markRead':
      return { channelId: ids.channelId, identityId: people.member.id, ...bad };
    default: {
      const isOfMessage = /Message|ttachment|Replies|Reaction/.test(name) && name !== 'listMessagesOfChannel';
      const ofChannel = isOfMessage ? { messageId: ids.messageId } : { channelId: ids.channelId };
      const subject = name.endsWith('Subscription') ? { subscriptionId: subscription.id } : ofChannel;
      return {
        ...subject,
        ...(name === 'removeAttachment' && { attachmentId: NO_ID }),
        ...(/Reaction/.test(name) && { key: 'NO' }),
        ...bad,
      };
    }
  }
}

describe.each(FACES)('over %s', (face) => {
  const call = (who: Who, name: string, input: Record<string, unknown>) =>
    people[who].call(face, `chat.${name.replace(/[*+]$/, '')}`, input);

  it.each(Object.keys(ALLOWED))('%s is open to exactly the permitted callers', async (name) => {
    expect(await app.call(face, `chat.${name.replace(/[*+]$/, '')}`, inputOf(name))).toEqual(NOT_SIGNED_IN);
    const passed: Who[] = [];
    for (const who of WHO) {
      const outcome = (await call(who, name, inputOf(name))) as { ok: boolean; status?: number };
      expect([undefined, 400, 403, 404]).toContain(outcome.status);
      if (outcome.status !== 403) passed.push(who);
    }
    expect(passed).toEqual(WHO.filter((who) => ALLOWED[name]?.includes(who)));
  });

  it('nobody posts for another identity, or in a channel without being a member, not even an admin', async () => {
    const post = (who: Who, senderId: string, channelId = channel.id) =>
      call(who, 'createMessage', { channelId, senderId, content: 'x' });
    const refused = (text: string) => ({ ok: false, status: 403, message: text });
    for (const who of ['stranger', 'owner', 'admin'] as const)
      expect(await post(who, people.author.id)).toEqual(refused('Identity ID does not match'));
    for (const who of ['stranger', 'former', 'admin'] as const) {
      expect(await post(who, people[who].id)).toEqual(refused('Identity is not subscribed to the channel'));
      expect(await post(who, people[who].id, NO_ID)).toEqual(refused('Identity is not subscribed to the channel'));
    }
    expect(await post('guest', people.guest.id)).toEqual(refused('Identity is not authorized to access this resource'));
  });

  it('nobody but the admin learns whether something exists', async () => {
    for (const [key, id, ...names] of [
      ['channelId', channel.id, 'getChannel', 'deleteChannel'],
      ['messageId', message.id, 'getMessage', 'deleteMessage', 'pinMessage', 'unpinMessage'],
      ['subscriptionId', subscription.id, 'getSubscription', 'deleteSubscription'],
    ] as const)
      for (const name of names) {
        expect(await call('stranger', name, { [key]: NO_ID })).toEqual(await call('stranger', name, { [key]: id }));
        expect(await call('stranger', name, { [key]: NO_ID })).toMatchObject({ status: 403 });
        expect(await call('admin', name, { [key]: NO_ID })).toMatchObject({ status: 404 });
      }
  });

  it('the list of one’s channels shows only one’s own read position', async () => {
    const { owner, member } = people;
    const refused = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
    expect(await call('owner', 'listChannels', { ownerId: owner.id, memberId: member.id })).toEqual(refused);
    expect(await call('member', 'listChannels', { ownerId: owner.id })).toEqual(refused);
    expect(await call('member', 'listChannels', {})).toEqual(refused);
    expect(await call('member', 'listChannels', { ownerId: owner.id, memberId: member.id })).toMatchObject({ ok: true });
    expect(await call('admin', 'listChannels', {})).toMatchObject({ ok: true });
  });

  it('a guest may leave a channel, and join none', async () => {
    const open = await openChannel(people.owner, [], { open: true });
    const guest = await subscribe(people.owner, open.id, people.guest.id);
    expect(await call('guest', 'deleteSubscription', { subscriptionId: guest.id })).toEqual({ ok: true });
    const join = { channelId: open.id, subscribedId: people.guest.id };
    expect(await call('guest', 'createSubscription', join)).toMatchObject({ status: 403 });
  });

  it('an attachment that another identity uploaded, or that was uploaded for another purpose, is refused', async () => {
    const given = { messageId: message.id, objectId: NO_ID, type: 'text/plain' };
    expect(await call('author', 'addAttachment', given)).toEqual({ ok: false, status: 404, message: 'File not found' });
  });
});
