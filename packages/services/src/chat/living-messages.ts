import type { Storage } from '@tandem/storage';
import { channelModel } from './channel.model.js';
import { chatErrors as errors } from './chat.errors.js';
import { messageModel, type MessageRecord } from './message.model.js';

/** Checks that messages are there: their records say nothing of the deletion of their channels. */
export function expectLivingIn(storage: Storage) {
  const Messages = storage.model(messageModel);
  const Channels = storage.model(channelModel);

  /** @returns the id of its channel. @throws `notFound`, also when the channel is deleted */
  return async function expectLiving(messageId: string, notFound: () => Error = errors.messageNotFound): Promise<string> {
    const { channelId } = (await Messages.findById(messageId, { channelId: 1 }).lean<MessageRecord>()) ?? {};
    if (channelId === undefined || !(await Channels.exists({ _id: channelId }))) throw notFound();
    return channelId;
  };
}
