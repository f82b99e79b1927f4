import { describeError, type Log } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import { LEFT_MS } from '../identities/identity-outbox.js';
import type { MailsService } from '../mail/mails.service.js';
import type { PreparedMail, QueuedMail } from '../mail/queued-mail.js';
import type { OnetimeTokensService } from '../onetime-tokens/onetime-tokens.service.js';
import type { OrganizationsService } from '../organizations/organizations.service.js';
import { invitationModel, pendingAt, type InvitationRecord } from './invitation.model.js';
import { withoutWebAddresses } from '../mail/web-addresses.js';
import type { Standing } from './standing.js';

const HOUR_MS = 60 * 60_000;

interface InvitationMailsOptions {
  storage: Storage;
  log: Log;
  mails: Pick<MailsService, 'enqueue'>;
  onetimeTokens: Pick<OnetimeTokensService, 'create'>;
  organizations: Pick<OrganizationsService, 'nameOf'>;
  standing: Pick<Standing, 'reviewOne'>;
  /** Email of an identity; undefined when it is gone. */
  emailOf(identityId: string): Promise<string | undefined>;
}

/**
 * Mails of invitations. An invitation is stored with a flag that its mail is due; the mail is queued from there and prepared when
 * it is sent (decisions A14).
 */
export function createInvitationMails(options: InvitationMailsOptions) {
  const { storage, log, mails, onetimeTokens, organizations, standing, emailOf } = options;
  const Invitations = storage.model(invitationModel);

  /**
   * Queues an invitation's mail. On failure `relayAll` repeats it later; the mail's id prevents duplicates. Reviews the inviter
   * first: one who lost the right just before the invitation was stored must not keep it, even if the process that stored it has
   * died (decisions H7).
   */
  async function relay(invitationId: string): Promise<void> {
    try {
      const record = await Invitations.findOne({ _id: invitationId, mailSince: { $ne: null } }).lean<InvitationRecord>();
      if (!record) return;
      await standing.reviewOne(invitationId);
      const { _id: id, email: to, expiresAt } = record;
      await mails.enqueue([{ id, isUnique: true, template: 'invitation', to, values: { invitationId: id }, expiresAt }]);
      await Invitations.updateOne({ _id: invitationId }, { $set: { mailSince: null } }, { timestamps: false });
    } catch (error) {
      log.warn({ err: describeError(error) }, 'the mail of an invitation was not queued; the next pass retries');
    }
  }

  return {
    relay,

    /** Queues the mails that dead processes left behind, and not newer ones, as the outbox of identities does. */
    async relayAll(): Promise<void> {
      const stored = { $gt: new Date(0), $lte: new Date(storage.clock.now().getTime() - LEFT_MS) };
      const left = Invitations.find({ mailSince: stored }, { _id: 1 }).lean<Pick<InvitationRecord, '_id'>[]>();
      for (const { _id } of await left) await relay(_id);
    },

    /**
     * Creates the token of an invitation's mail when it is sent. A mail that is sent twice carries the same token.
     * @returns undefined when the invitation is no longer valid
     */
    async prepare({ id: jti, values }: QueuedMail & { id: string }): Promise<PreparedMail | undefined> {
      const now = storage.clock.now();
      const filter = { _id: String(values?.['invitationId']), ...pendingAt(now) };
      const record = await Invitations.findOne(filter).lean<InvitationRecord>();
      if (!record) return undefined;
      const { _id: invitationId, email, organizationId, fromIdentityId } = record;
      const lifetimeMs = record.expiresAt.getTime() - now.getTime();
      const { token } = await onetimeTokens.create({ invitationId, target: 'invitation', jti, email, lifetimeMs });
      const [inviterEmail, name] = await Promise.all([
        emailOf(fromIdentityId),
        organizationId === null ? undefined : organizations.nameOf(organizationId),
      ]);
      const hours = Math.max(1, Math.round(lifetimeMs / HOUR_MS));
      const organizationName = name === undefined ? undefined : withoutWebAddresses(name) || 'an organization';
      const said = {
        ...(inviterEmail !== undefined && { inviterEmail }),
        ...(organizationName !== undefined && { organizationName }),
      };
      return { to: email, token, values: { email, hours, ...said } };
    },
  };
}
