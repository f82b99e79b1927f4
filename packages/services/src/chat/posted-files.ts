import { validationError } from '@tandem/core';
import { namedId } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { GivenFile, UploadAddress, UploadRequest } from '../files/files.schemas.js';
import type { MessageLog } from './message-log.js';

interface PostedFilesOptions {
  log: Pick<MessageLog, 'sent'>;
  attachments: Pick<Attachments, 'issue' | 'attachAhead'>;
}
interface Sent {
  channelId: string;
  senderId: string;
  clientId: string | null;
}

/** The files that messages are posted with: attached first, so that each message arrives whole. */
export function createPostedFiles({ log, attachments }: PostedFilesOptions) {
  return {
    /** Issues an upload address for a file that a message is to be posted with. @throws fileErrors.tooManyUnused */
    uploadUrl: (request: UploadRequest, identityId: string): Promise<UploadAddress> => attachments.issue(request, identityId),

    /**
     * Attaches the files of a message that is about to be stored. Whoever sends it again finds them under the same id.
     * @returns the id of the message: of the stored one, if it was sent before
     * @throws validationError without a `clientId`; ATTACH_ERRORS
     */
    async attach({ channelId, senderId, clientId }: Sent, files: readonly GivenFile[]): Promise<string> {
      if (clientId === null) throw validationError(["'attachments' needs a 'clientId'"]);
      const sent = await log.sent({ channelId, senderId, clientId });
      if (sent) return sent._id;
      const id = namedId(senderId, `${channelId} ${clientId}`);
      await attachments.attachAhead(id, files, senderId);
      return id;
    },
  };
}
