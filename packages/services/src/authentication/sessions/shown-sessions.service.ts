import type { ListAnswer, ListQuery, Lists } from '@tandem/lists';
import { present, type Presented, type Storage } from '@tandem/storage';
import type { AuditService } from '../../audit/audit.service.js';
import type { RequestFacts } from '../../audit/request-facts.js';
import type { AccessState, JudgedSession } from '../../identities/access-state.js';
import { sessionModel, type SessionRecord } from './session.model.js';
import { sessionErrors } from './sessions.errors.js';
import { sessionList } from './sessions.schemas.js';

export type ShownSessionsService = ReturnType<typeof createShownSessionsService>;

type ShownFields = 'ip' | 'userAgent' | 'createdAt' | 'lastUsedAt' | 'expiresAt';
type ShownSession = Pick<Presented<SessionRecord>, 'id' | ShownFields> & { isCurrent: boolean };

interface ShownSessionsOptions {
  storage: Storage;
  lists: Lists;
  /** Lifetime of a session from its sign-in, in milliseconds. */
  lifetimes: { session: number };
  accessStateOf(identityId: string): Promise<AccessState | undefined>;
  /** Ends a session on every instance; resolves to whether there was one. */
  end(sessionId: string): Promise<boolean>;
  audit: AuditService;
}

/** An epoch that no session has, so that the filter matches nothing. */
const NO_EPOCH = -1;

/** `countsSession` as a query filter. */
function countingIn(state: AccessState | undefined): object {
  if (!state || state.isBarred) return { epoch: NO_EPOCH };
  const { sessionEpoch: epoch, linkIds, sparedSessionId } = state;
  const counting = { epoch, linkId: { $in: [null, ...linkIds] } };
  return sparedSessionId === null ? counting : { $or: [counting, { _id: sparedSessionId }] };
}

/** Lists and ends the sessions of an identity, for itself and for admins. */
export function createShownSessionsService({ storage, lists, lifetimes, accessStateOf, end, audit }: ShownSessionsOptions) {
  const Sessions = storage.model(sessionModel);

  /** Filter for sessions whose tokens are valid now. Matches none of an identity that is missing, locked or deactivated. */
  async function liveOnes(identityId: string) {
    const state = await accessStateOf(identityId);
    const now = storage.clock.now();
    const createdAt = { $gt: new Date(now.getTime() - lifetimes.session) };
    return { identityId, ...countingIn(state), expiresAt: { $gt: now }, createdAt };
  }

  return {
    /**
     * The live sessions, newest first.
     * @param currentId the caller's session
     */
    async list(identityId: string, currentId: string, query: ListQuery): Promise<ListAnswer<ShownSession>> {
      const show = (record: SessionRecord) => ({ ...present(record), isCurrent: record._id === currentId });
      return lists.answer(sessionList, Sessions, { scope: await liveOnes(identityId), cursorScope: { identityId }, show }, query);
    },

    /** The fields of a live session that decide whether it survives a change of its identity; undefined when it has ended. */
    async findLive(identityId: string, sessionId: string): Promise<JudgedSession | undefined> {
      const filter = { ...(await liveOnes(identityId)), _id: sessionId };
      return (await Sessions.findOne(filter, { epoch: 1, linkId: 1 }).lean<JudgedSession>()) ?? undefined;
    },

    /**
     * Ends one of the identity's live sessions. Of concurrent calls only one succeeds.
     * @throws sessionErrors.notFound when it is missing, has ended, or is another identity's
     */
    async end(identityId: string, sessionId: string, by: RequestFacts): Promise<void> {
      const found = await Sessions.exists({ ...(await liveOnes(identityId)), _id: sessionId });
      // a session never changes its identity, so the check above still holds
      if (!found || !(await end(sessionId))) throw sessionErrors.notFound();
      await audit.record('session.ended', by, { identityId, details: { sessionId } });
    },
  };
}
