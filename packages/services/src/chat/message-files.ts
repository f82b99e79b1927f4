import { validationError } from '@tandem/core';
import { namedId, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { GivenFile, ShownFile, UploadAddress, UploadRequest } from '../files/files.schemas.js';
import { changedRecord, type ChangeTeller } from './change-teller.js';
import { chatErrors as errors } from './chat.errors.js';
import { expectLivingIn } from './living-messages.js';
import type { MessageLog, Sent } from './message-log.js';
import { messageModel, type MessageRecord } from './message.model.js';

export type MessageFiles = ReturnType<typeof createMessageFiles>;

interface MessageFilesOptions {
  storage: Storage;
  log: Pick<MessageLog, 'sent'>;
  teller: ChangeTeller;
  attachments: Attachments;
}
interface Attaching {
  messageId: string;
  file: GivenFile;
  attachedBy: string;
}
interface Detaching {
  messageId: string;
  attachmentId: string;
}

/** The files of messages: those that a message is posted with, and those that come and go later. */
export function createMessageFiles({ storage, log, teller, attachments }: MessageFilesOptions) {
  const Messages = storage.model(messageModel);
  const expectLiving = expectLivingIn(storage);

  /** Refreshes `updatedAt` after a change of the message's files. @throws errors.messageNotFound */
  async function touch(messageId: string): Promise<MessageRecord> {
    const $set = { updatedAt: storage.clock.now() };
    const record = await Messages.findByIdAndUpdate(messageId, { $set }, { returnDocument: 'after' }).lean<MessageRecord>();
    if (!record) throw errors.messageNotFound();
    return record;
  }

  /** What requests of this process have attached and changed, by the payloads of their units. */
  const attached = new WeakMap<object, ShownFile>();
  const touched = new WeakMap<object, MessageRecord>();
  const nothing = () => Promise.resolve();
  /** Readers learn of a file by the change of its message, which comes after a crash too. */
  const change = {
    name: 'message',
    run: async (payload: { messageId: string }) => touched.set(payload, await touch(payload.messageId)),
    undo: nothing,
  };
  const attaching = storage.defineUnit<Attaching>({
    name: 'chat.attach',
    steps: [
      {
        name: 'file',
        async run(payload, fence) {
          attached.set(payload, await attachments.attach(payload.messageId, payload.file, payload.attachedBy, fence));
        },
        isDone: ({ messageId, file, attachedBy }) => attachments.isAttached(messageId, file, attachedBy),
        // only what this very request has attached: it fails too where another one has attached the same file
        async undo(payload) {
          const file = attached.get(payload);
          if (file) await attachments.remove(payload.messageId, file.id);
        },
      },
      change,
    ],
  });
  const detaching = storage.defineUnit<Detaching>({
    name: 'chat.detach',
    steps: [
      {
        name: 'file',
        async run({ messageId, attachmentId }, fence) {
          if (!(await attachments.remove(messageId, attachmentId, fence))) throw errors.attachmentNotFound();
        },
        isDone: async ({ messageId, attachmentId }) => !(await attachments.idsOf([messageId])).get(messageId)?.has(attachmentId),
        undo: nothing,
      },
      change,
    ],
  });

  async function tellAttached(record: MessageRecord, attachment: ShownFile): Promise<ShownFile> {
    const { _id: messageId, channelId } = record;
    const told = { type: 'attachment.created', channelId, messageId, attachment } as const;
    await teller.tell(channelId, changedRecord(record), { kind: 'message' }, { told });
    return attachment;
  }

  return {
    /** The files of messages, by one query. */
    of: attachments.of,

    /** Issues an upload address for a file that a message is to be posted with. @throws fileErrors.tooManyUnused */
    postedFileUploadUrl: (request: UploadRequest, identityId: string): Promise<UploadAddress> =>
      attachments.issue(request, identityId),

    /**
     * Attaches the files of a message that is about to be stored, so that it arrives whole. Whoever sends it again with the same
     * files finds them under the same id; with others it is another id, of which one is stored: no attempt touches the files of
     * another.
     * @returns the id of the message: of the stored one, if it was sent before
     * @throws validationError without a `clientId`; ATTACH_ERRORS
     */
    async attachAhead(given: Sent, files: readonly GivenFile[]): Promise<string> {
      const { channelId, senderId, clientId } = given;
      if (clientId === null) throw validationError(["'attachments' needs a 'clientId'"]);
      const sent = await log.sent(given);
      if (sent) return sent._id;
      const list = files.map(({ objectId }) => objectId).toSorted();
      const id = namedId(senderId, [channelId, clientId, ...list].join(' '));
      await attachments.attachAhead(id, files, senderId);
      return id;
    },

    /** Issues an upload address for an attachment. @throws errors.messageNotFound; fileErrors.tooManyUnused */
    async attachmentUploadUrl(messageId: string, request: UploadRequest, identityId: string): Promise<UploadAddress> {
      if (!(await Messages.exists({ _id: messageId }))) throw errors.messageNotFound();
      return attachments.issue(request, identityId);
    },

    /**
     * Adds an uploaded file to a message.
     * @param attachedBy the identity that uploaded it
     * @throws errors.messageNotFound; ATTACH_ERRORS, fileErrors.tooMany
     */
    async attach(messageId: string, file: GivenFile, attachedBy: string): Promise<ShownFile> {
      if (!(await Messages.exists({ _id: messageId }))) throw errors.messageNotFound();
      const payload = { messageId, file, attachedBy };
      await attaching.run(payload);
      return tellAttached(touched.get(payload) as MessageRecord, attached.get(payload) as ShownFile);
    },

    /** The file, if an earlier attempt has added it. It is announced again. @throws errors.messageNotFound */
    async attached(messageId: string, file: GivenFile, attachedBy: string): Promise<ShownFile | undefined> {
      const attachment = await attachments.attached(messageId, file, attachedBy);
      return attachment && tellAttached(await touch(messageId), attachment);
    },

    /** @throws errors.messageNotFoundStop, attachmentNotFound */
    async detach(messageId: string, attachmentId: string): Promise<void> {
      await expectLiving(messageId, errors.messageNotFoundStop);
      const payload = { messageId, attachmentId };
      await detaching.run(payload);
      const record = touched.get(payload) as MessageRecord;
      const { channelId } = record;
      const told = { type: 'attachment.deleted', channelId, messageId, attachmentId } as const;
      await teller.tell(channelId, changedRecord(record), { kind: 'message' }, { told });
    },
  };
}
