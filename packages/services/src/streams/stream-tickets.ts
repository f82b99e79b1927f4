import { createHash, randomBytes } from 'node:crypto';
import { authenticatedRoute, authenticationErrors, type VerifiedAccess } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import { z } from 'zod';
import type { SessionsService } from '../authentication/sessions/sessions.service.js';
import type { KeyAccess } from '../keys/key-access.js';
import { Timestamp } from '../shared/schemas.js';
import { SUBSCRIPTIONS, streamTicketModel, type StreamName, type StreamTicketRecord } from './stream-ticket.model.js';

export type StreamTickets = ReturnType<typeof createStreamTickets>;

const TICKET_LIFETIME_MS = 30_000;
const TICKET_BYTES = 32;

const TicketSchema = z.object({ ticket: z.string(), expiresAt: Timestamp }).meta({ id: 'StreamTicket' });

function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64url');
}

/** Tickets, with which browsers in bearer mode open streams: they cannot send headers with a WebSocket (decisions S1). */
export function createStreamTickets({
  storage,
  sessions,
  keyAccess,
}: {
  storage: Storage;
  sessions: Pick<SessionsService, 'identityOf'>;
  keyAccess: Pick<KeyAccess, 'identityOf'>;
}) {
  const Tickets = storage.model(streamTicketModel);

  async function issue(stream: StreamName, { identity, expiresAt }: VerifiedAccess) {
    const ticket = randomBytes(TICKET_BYTES).toString('base64url');
    const record = {
      _id: hashOf(ticket),
      stream,
      identityId: identity.id,
      sessionId: identity.sessionId,
      isOfKey: identity.key !== undefined,
      accessExpiresAt: new Date(expiresAt * 1000),
      expiresAt: new Date(storage.clock.now().getTime() + TICKET_LIFETIME_MS),
    };
    await Tickets.create(record);
    return { ticket, expiresAt: record.expiresAt.toISOString() };
  }

  return {
    /**
     * Exchanges a ticket for the access it stands for. A ticket works once, even when several requests race for it.
     * @param ip the caller's address
     * @throws authenticationErrors.unverified when it is unknown, used, expired or of another stream, or its session or key has
     * ended or is not accepted from this address
     */
    async redeem(stream: StreamName, ticket: string, ip: string): Promise<VerifiedAccess> {
      const now = storage.clock.now();
      const used = await Tickets.findOneAndDelete({
        _id: hashOf(ticket),
        stream,
        expiresAt: { $gt: now },
        accessExpiresAt: { $gt: now },
      }).lean<StreamTicketRecord>();
      if (!used) throw authenticationErrors.unverified();
      const { sessionId, identityId, isOfKey } = used;
      const identity = await (isOfKey ? keyAccess.identityOf(sessionId, ip) : sessions.identityOf(sessionId, identityId));
      return { identity, fingerprintHash: undefined, expiresAt: used.accessExpiresAt.getTime() / 1000 };
    },

    /** The procedure that issues tickets for a stream. */
    procedure: (stream: StreamName) =>
      authenticatedRoute(`POST /${stream}/listen/tickets`, {
        status: 201,
        summary: `Get a ticket that opens the stream of ${stream} once`,
        failure: 'Failed to create ticket',
        isRead: true,
        opens: SUBSCRIPTIONS[stream],
      })
        .input(z.strictObject({}))
        .output(TicketSchema)
        .mutation(({ ctx }) => issue(stream, ctx.access)),
  };
}
