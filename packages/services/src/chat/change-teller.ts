import type { EventBus } from '@tandem/core';
import { versionOf } from '@tandem/storage';
import { publishChatEvent, publishStored, type ChatEvent, type LastingEvent } from './chat-events.js';
import type { ChangeRecord, Changed, MessageLog } from './message-log.js';
import type { OwnChange } from './own-changes.js';

/** An event of a change that has no number yet. */
export type UnnumberedEvent<Event = LastingEvent> = Event extends ChatEvent ? Omit<Event, 'change'> : never;

/** An event with its number, which stands at its top. */
export function numbered({ type, channelId, ...event }: UnnumberedEvent, change: number): LastingEvent {
  return { type, channelId, change, ...event } as LastingEvent;
}

/** A changed record, by its version after the change. */
export interface ChangedRecord {
  id: string;
  version: number;
}
export const changedRecord = (record: { _id: string }): ChangedRecord => ({ id: record._id, version: versionOf(record) ?? 0 });
/** The same of a record as it was before its deletion. */
export const deletedRecord = (record: { _id: string }): ChangedRecord => ({
  id: record._id,
  version: (versionOf(record) ?? 0) + 1,
});

/** What has changed in a channel: which record, and what of it. */
export interface Change {
  record: ChangedRecord;
  changed: Changed;
  /** What readers are told, if it is more than how things are now. */
  told?: UnnumberedEvent;
  seen?: Seen;
}
/**
 * What a write of this process has found, and the moment before it. If by then the number before that of the change was known
 * to be taken, the write has found all that was told under lower numbers: it need not be read again.
 */
export interface Seen {
  moment: number;
  event: UnnumberedEvent;
}
/** A change that the event log tells: its process may have died before it numbered or announced it. */
export interface LateChange extends Change {
  channelId: string;
  /** What streams of one's own may have missed. */
  own?: OwnChange | undefined;
}
const idOf = ({ record: { id, version } }: Change) => `${id} ${version}`;

/** Reads what readers are told of some changes of a channel. */
type Read = (channelId: string, records: readonly ChangeRecord[]) => Promise<readonly { event?: LastingEvent | undefined }[]>;

/** Numbers lasting changes and announces them to the readers of their channel (decisions C1). */
export function createChangeTeller(log: MessageLog, bus: EventBus) {
  let read: Read = () => Promise.resolve([]);

  /**
   * Numbers changes of a channel, each once for a version of its record, and announces them, each time. What is told is read when
   * they have their numbers: of several changes at once, on whichever instances, the last one that is told shows them all.
   */
  async function number(channelId: string, changes: readonly Change[]): Promise<void> {
    const noting = changes.map(({ record, changed }) => log.note(channelId, record, changed));
    const noted = (await Promise.all(noting)).map(({ record, since }, at) => {
      const { told, seen } = changes[at] ?? {};
      return { record, told: told ?? (seen && since <= seen.moment ? seen.event : undefined) };
    });
    const unread = noted.filter(({ told }) => !told).map(({ record }) => record);
    const events = unread.length > 0 ? await read(channelId, unread) : [];
    const eventOf = new Map(unread.map((record, at) => [record, events[at]?.event]));
    for (const { record, told } of noted) {
      const event = told ? numbered(told, record.change) : eventOf.get(record);
      if (event) publishChatEvent(bus, event);
    }
  }

  return {
    number,

    /** Numbers changes that have no number, and lets readers look up those of whose numbers they may not have heard. */
    async numberLate(late: readonly LateChange[]): Promise<void> {
      const noted = await log.noted(late.map(idOf));
      for (const channelId of new Set(late.map((change) => change.channelId))) {
        const ofChannel = late.filter((change) => change.channelId === channelId);
        const unnumbered = ofChannel.filter((change) => !noted.has(idOf(change)));
        if (unnumbered.length > 0) await number(channelId, unnumbered);
        const told = ofChannel.filter((change) => noted.has(idOf(change)));
        const numbers = told.map((change) => noted.get(idOf(change)) ?? 0);
        if (told.length > 0)
          publishStored(
            bus,
            channelId,
            Math.max(...numbers),
            told.flatMap(({ own }) => own ?? []),
          );
      }
    },

    /** Tells of a change that has been acknowledged. Should the store fail now, the event log sees to it later. */
    tell: (channelId: string, record: ChangedRecord, changed: Changed, more: Pick<Change, 'told' | 'seen'> = {}): Promise<void> =>
      number(channelId, [{ record, changed, ...more }]).catch(() => {}),

    /** The moment before a write, for `Seen`. */
    moment: log.moment,

    /** Call it once, when wiring. */
    readBy(reading: Read): void {
      read = reading;
    },
  };
}
export type ChangeTeller = ReturnType<typeof createChangeTeller>;
