import type { Tandem } from '@tandem/services';
import type { MovableClock } from './movable-clock.js';

const MINUTE_MS = 60_000;
/** Age of the last line, in minutes; each line comes some minutes after the one before. */
const SINCE_LAST = 20;
const BETWEEN = 7;

/** A team's conversation: the index of the speaker among its members, and the line. */
const TEAM_TALK = [
  [0, 'Good morning! Who opens today?'],
  [1, 'I do. The keys are with me.'],
  [0, 'Thank you. The delivery comes at ten.'],
  [1, 'I will make room for it.'],
  [1, 'It is here, one box is missing.'],
  [0, 'I am calling them.'],
  [0, 'They bring it tomorrow.'],
] as const;

const CUSTOMER_TALK = [
  [1, 'Hello, are you open on Sunday?'],
  [0, 'From nine to one.'],
  [2, 'Can I order by message?'],
  [0, 'Gladly, or in the shop of this page.'],
  [1, 'Then see you on Sunday!'],
  [3, 'Is there parking nearby?'],
] as const;

export interface ShopTeam {
  name: string;
  ownerId: string;
  staffIds: readonly string[];
}

/**
 * Makes a channel for each shop's team and an open one for its customers, with recent messages.
 * @returns the number of messages
 */
export async function fillChannels(
  { chat }: Pick<Tandem['services'], 'chat'>,
  { clock, shops, customers }: { clock: MovableClock; shops: readonly ShopTeam[]; customers: readonly string[] },
): Promise<number> {
  const now = clock.now().getTime();
  let messages = 0;

  async function fill(
    { name, open, members: [ownerId, ...others] }: { name: string; open: boolean; members: readonly [string, ...string[]] },
    lines: readonly (readonly [number, string])[],
  ): Promise<void> {
    const started = now - (SINCE_LAST + lines.length * BETWEEN) * MINUTE_MS;
    clock.set(new Date(started));
    const { id: channelId } = await chat.channels.create({ name, ownerId, open }, ownerId);
    for (const subscribedId of others) await chat.subscriptions.create({ channelId, subscribedId });
    for (const [at, [speaker, content]] of lines.entries()) {
      clock.set(new Date(started + (at + 1) * BETWEEN * MINUTE_MS));
      const senderId = [ownerId, ...others][speaker] ?? ownerId;
      const { id: messageId } = await chat.post({ channelId, senderId, content });
      await chat.markRead({ channelId, identityId: senderId, messageId });
      messages++;
    }
  }

  for (const { name, ownerId, staffIds } of shops) {
    await fill({ name: `${name}: team`, open: false, members: [ownerId, ...staffIds] }, TEAM_TALK);
    await fill({ name, open: true, members: [ownerId, ...customers] }, CUSTOMER_TALK);
  }
  clock.set(new Date(now));
  return messages;
}
