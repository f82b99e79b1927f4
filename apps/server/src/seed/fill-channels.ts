import type { DirectTalk, Line, SeedChannel, Talk } from './data/conversation.js';
import { DIRECT_TALKS, OPEN_CHANNELS } from './data/open-channels.js';
import type { Who } from './data/people.js';
import { TEAM_CHANNELS } from './data/team-channels.js';
import { draw } from './drawings/canvas.js';
import { emblem } from './drawings/emblem.js';
import type { People } from './fill-people.js';
import { DAY_MS, MINUTE_MS, forEach, picture, uploaded, type Seeding } from './seeding.js';

/** Between lines, in minutes. */
const PAUSES = [3, 7, 2, 5, 11, 4] as const;

/** A line that was said. */
interface Said {
  id: string;
  by: Who;
  at: Date;
}

/** Makes channels with all that is said and done in them. @returns the number of messages */
export async function fillChannels(seeding: Seeding, people: People): Promise<number> {
  const channels = await forEach([...TEAM_CHANNELS, ...OPEN_CHANNELS], (channel) => fillChannel(seeding, people, channel));
  const direct = await forEach(DIRECT_TALKS, (one) => fillDirect(seeding, people, one));
  return [...channels, ...direct].reduce((sum, count) => sum + count, 0);
}

async function fillChannel(seeding: Seeding, people: People, channel: SeedChannel): Promise<number> {
  const { act, services } = seeding;
  const { chat } = services;
  const { name, owner, isOpen = false, icon, members, moderators = [], talks, muted, banned, behind = {} } = channel;
  const ownerId = people[owner].id;
  const begun = seeding.now.getTime() - (talks[0]?.days ?? 1) * DAY_MS - 60 * MINUTE_MS;
  const { id: channelId } = await act(ownerId, new Date(begun), () =>
    chat.channels.create({ name, ownerId, open: isOpen }, ownerId),
  );
  const file = await uploaded(seeding, ownerId, picture(draw(emblem(...icon))), (request) =>
    chat.channels.iconUploadUrl(channelId, request, ownerId),
  );
  await act(ownerId, new Date(begun + MINUTE_MS), () => chat.channels.patch(channelId, { icon: file }, ownerId));
  const joining = [...members, ...(banned ? [banned.who] : [])];
  const memberships = new Map<Who, string>();
  for (const [at, who] of joining.entries()) {
    const given = { channelId, subscribedId: people[who].id };
    const { id } = await act(isOpen ? people[who].id : ownerId, new Date(begun + (2 + at) * MINUTE_MS), () =>
      chat.subscriptions.create(given),
    );
    memberships.set(who, id);
  }
  for (const who of moderators)
    await act(ownerId, new Date(begun + 50 * MINUTE_MS), () =>
      chat.subscriptions.patch(memberships.get(who) ?? '', { role: 'moderator' }),
    );
  const said = await say(seeding, people, channelId, talks);
  const lately = new Date(Math.max(begun, seeding.now.getTime() - 3.5 * DAY_MS));
  const until = (days: number) => new Date(seeding.now.getTime() + days * DAY_MS).toISOString();
  if (muted)
    await act(people[muted.by].id, lately, () =>
      chat.subscriptions.patch(memberships.get(muted.who) ?? '', { mutedUntil: until(muted.days) }),
    );
  if (banned) {
    const given = { channelId, identityId: people[banned.who].id, until: banned.days === undefined ? null : until(banned.days) };
    const by = people[banned.by].id;
    await act(by, lately, () => chat.bans.create(given, by));
  }
  await read(seeding, people, { channelId, said, members: [owner, ...members], behind });
  return said.length;
}

async function fillDirect(seeding: Seeding, people: People, { between, talks, unread }: DirectTalk): Promise<number> {
  const [one, other] = between;
  const begun = new Date(seeding.now.getTime() - (talks[0]?.days ?? 1) * DAY_MS - MINUTE_MS);
  const { id: channelId } = await seeding.act(people[one].id, begun, () =>
    seeding.services.chat.direct.open(people[one].id, people[other].id),
  );
  const said = await say(seeding, people, channelId, talks);
  const last = said.at(-1)?.by;
  const reader = last === one ? other : one;
  await read(seeding, people, { channelId, said, members: between, behind: { [reader]: unread } });
  return said.length;
}

/** Says all lines, in order, with what is done to each a little later. */
async function say(seeding: Seeding, people: People, channelId: string, talks: readonly Talk[]): Promise<Said[]> {
  const { services, act, now } = seeding;
  const said: Said[] = [];
  const named = new Map<string, string>();
  for (const { days, lines } of talks) {
    let at = now.getTime() - days * DAY_MS;
    for (const line of lines) {
      at = Math.min(at + (PAUSES[said.length % PAUSES.length] ?? 3) * MINUTE_MS, now.getTime() - 2 * MINUTE_MS);
      const then = new Date(at);
      const { by, says, key, replyTo, names = [], pictures = [], before = says } = line;
      const senderId = people[by].id;
      const attachments = await forEach(pictures, (painter) =>
        uploaded(seeding, senderId, picture(draw(painter)), (request) =>
          services.chat.messageFiles.postedFileUploadUrl(request, senderId),
        ),
      );
      const given = {
        channelId,
        senderId,
        content: before,
        clientId: `${channelId} ${said.length}`,
        ...(replyTo !== undefined && { replyToId: named.get(replyTo) ?? null }),
        ...(names.length > 0 && { mentions: names.map((who) => people[who].id) }),
        ...(attachments.length > 0 && { attachments }),
      };
      const { id } = await act(senderId, then, () => services.chat.post(given));
      said.push({ id, by, at: then });
      if (key !== undefined) named.set(key, id);
      await follow(seeding, people, { line, messageId: id, at: new Date(at + MINUTE_MS) });
    }
  }
  return said;
}

/** Does to a message what its line says. */
async function follow(
  { services: { chat }, act }: Seeding,
  people: People,
  { line, messageId, at }: { line: Line; messageId: string; at: Date },
): Promise<void> {
  const { by, says, before, reactions = {}, pinnedBy, report, isDeleted = false } = line;
  const as = <T>(who: Who, run: (identityId: string) => Promise<T>) => act(people[who].id, at, () => run(people[who].id));
  if (before !== undefined) await as(by, () => chat.messages.patch(messageId, { content: says }));
  for (const [key, who] of Object.entries(reactions))
    for (const one of who) await as(one, (identityId) => chat.reactions.add({ messageId, key, identityId }));
  if (pinnedBy) await as(pinnedBy, (identityId) => chat.pins.pin(messageId, identityId));
  if (report) {
    const { reason, outcome } = report;
    const { id } = await as(report.by, (reporterId) => chat.reports.create({ messageId, reason }, reporterId));
    if (outcome) await as('admin', () => chat.reports.patch(id, outcome));
  }
  if (isDeleted) await as(by, () => chat.messages.delete(messageId));
}

/** Marks what members have read: all but the last lines of some. */
async function read(
  { services, act, now }: Seeding,
  people: People,
  { channelId, said, members, behind }: { channelId: string; said: readonly Said[]; members: readonly Who[]; behind: Partial<Record<Who, number>> }, // prettier-ignore
): Promise<void> {
  await forEach(members, async (who) => {
    const last = said.at(-1 - (behind[who] ?? 0));
    if (!last) return;
    const soon = new Date(Math.min(last.at.getTime() + 5 * MINUTE_MS, now.getTime()));
    const identityId = people[who].id;
    await act(identityId, soon, () => services.chat.markRead({ channelId, identityId, messageId: last.id }));
  });
}
