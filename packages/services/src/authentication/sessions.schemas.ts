import { z } from 'zod';
import { Id, Timestamp, pageOf, pageParameters } from '../shared/schemas.js';

/** One sign-in on one device, as its owner sees it. `lastUsedAt` is the login or the last exchange of its refresh token. */
export const SessionSchema = z
  .object({
    id: Id,
    ip: z.string(),
    userAgent: z.string(),
    createdAt: Timestamp,
    lastUsedAt: Timestamp,
    expiresAt: Timestamp,
    isCurrent: z.boolean().meta({ description: 'It is the session of this request' }),
  })
  .meta({ id: 'Session' });

export const SessionPageSchema = z.compile(pageOf(SessionSchema));

export const sessionListInput = z.strictObject({ identityId: Id, ...pageParameters });
export const sessionInput = z.strictObject({ identityId: Id, sessionId: Id });
