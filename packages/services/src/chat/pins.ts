import { MAJORITY, insertBelow, newId, type Storage } from '@tandem/storage';
import { existingIn } from '../shared/existing.js';
import { freeNumber } from '../shared/free-numbers.js';
import { deletedRecord, type ChangedRecord, type ChangeTeller } from './change-teller.js';
import type { LastingEvent } from './chat-events.js';
import { chatErrors as errors } from './chat.errors.js';
import { expectLivingIn } from './living-messages.js';
import { isChange, type Changed, type LogRecord } from './message-log.js';
import { messageModel } from './message.model.js';
import { pinModel, type PinRecord } from './pin.model.js';

/** Maximum number of pinned messages per channel. */
const PINS_MAX = 100;

type PinEvent = Extract<LastingEvent, { type: 'pin.created' | 'pin.deleted' }>;
/** A message of which somebody has changed whether it is pinned. */
type PinChange = Pick<PinRecord, 'channelId' | 'messageId' | 'identityId'>;

export type Pins = ReturnType<typeof createPins>;

/** Pinned messages (decisions C3). */
export function createPins({ storage, teller }: { storage: Storage; teller: ChangeTeller }) {
  const Messages = storage.model(messageModel);
  const Pins = storage.model(pinModel);
  const expectLiving = expectLivingIn(storage);
  const existingMessages = existingIn(Messages);
  const isPinned = async (messageId: string) => (await Pins.exists({ messageId })) !== null;

  /** What readers are told of messages: whether they are pinned now. Read with majority concern, for replays. */
  async function told(changes: readonly PinChange[]): Promise<Map<string, Omit<PinEvent, 'change'>>> {
    if (changes.length === 0) return new Map();
    const messageId = { $in: changes.map((one) => one.messageId) };
    const found = await Pins.find({ messageId }, undefined, { ...MAJORITY }).lean<PinRecord[]>();
    const pinners = new Map(found.map((pin) => [pin.messageId, pin.identityId]));
    return new Map(
      changes.map(({ channelId, messageId: id, identityId }) => {
        const by = pinners.get(id);
        return [id, { type: by === undefined ? 'pin.deleted' : 'pin.created', channelId, messageId: id, identityId: by ?? identityId }]; // prettier-ignore
      }),
    );
  }

  const changedBy = ({ messageId, identityId }: PinChange): Changed => ({ kind: 'pin', recordId: messageId, identityId });
  const tell = (change: PinChange, record: ChangedRecord) => teller.tell(change.channelId, record, changedBy(change));

  storage.events.beforeCleared(['pin.created', 'pin.deleted'], (events) =>
    teller.numberLate(
      events.map(({ actor, type, subject: { id }, version, state }) => {
        const pin = state as unknown as PinRecord;
        const isRemoval = type === 'pin.deleted' && actor?.type === 'identity' && actor.id !== null;
        const by = isRemoval ? { ...pin, identityId: actor.id as string } : pin;
        return { channelId: pin.channelId, record: { id, version }, changed: changedBy(by) };
      }),
    ),
  );
  // a process that has deleted a message, and died before it freed the place; or a host
  storage.events.beforeCleared(['message.deleted'], async (events) => {
    const found = await Pins.find({ messageId: { $in: events.map(({ subject }) => subject.id) } }).lean<PinRecord[]>();
    const living = await existingMessages(found.map(({ messageId }) => messageId));
    for (const { _id, messageId } of found) if (!living.has(messageId)) await Pins.deleteOne({ _id }, { hard: true });
  });

  return {
    /**
     * Pins a message, if it is not pinned. Whether it is there is checked after the insert, because a later deletion finds the pin.
     * @throws errors.messageNotFound, tooManyPins
     */
    async pin(messageId: string, identityId: string): Promise<void> {
      const channelId = await expectLiving(messageId);
      for (;;) {
        const place = await freeNumber(Pins, 'place', PINS_MAX, { channelId, deletedAt: null });
        if (await isPinned(messageId)) return;
        if (place === undefined) throw errors.tooManyPins({ max: String(PINS_MAX) });
        const pin = { _id: newId(storage.clock), channelId, messageId, identityId, place };
        const stored = await insertBelow(Pins, pin, async () => {
          if (!(await Messages.exists({ _id: messageId }))) throw errors.messageNotFound();
        });
        // else the place was taken meanwhile, or the message pinned
        if (stored) return tell(pin, { id: pin._id, version: 1 });
      }
    },

    /** @throws errors.messageNotFound */
    async unpin(messageId: string, identityId: string): Promise<void> {
      await expectLiving(messageId);
      const removed = await Pins.findOneAndDelete({ messageId }, { hard: true }).lean<PinRecord>();
      if (removed) await tell({ ...removed, identityId }, deletedRecord(removed));
    },

    /** Frees the place of a message that was deleted. Its readers learn of it by the event log. */
    async free(messageId: string): Promise<void> {
      await Pins.deleteOne({ messageId }, { hard: true }).catch(() => {});
    },

    /** What readers are told of the changed pins among records of a channel's log, by message. */
    async toldOf(records: readonly LogRecord[]): Promise<Map<string, Omit<PinEvent, 'change'>>> {
      const changes = records.flatMap((record) =>
        isChange(record) && record.kind === 'pin' ? [{ ...record, messageId: record.recordId }] : [],
      );
      return told(changes);
    },
  };
}
