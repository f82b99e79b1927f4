import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id, Timestamp } from '../../shared/schemas.js';
import { sessionResource } from './session.model.js';

/** One sign-in on one device, as its owner sees it. `lastUsedAt` is the sign-in or the last token refresh. */
export const SessionSchema = z
  .object({
    id: Id,
    ip: z.string(),
    userAgent: z.string(),
    createdAt: Timestamp,
    lastUsedAt: Timestamp,
    expiresAt: Timestamp,
    isCurrent: z.boolean().meta({ description: 'Whether it is the session of this request' }),
  })
  .meta({ id: 'Session' });

export const sessionList = defineList(sessionResource, { row: SessionSchema, own: { identityId: Id } });

export const sessionInput = z.strictObject({ identityId: Id, sessionId: Id });
