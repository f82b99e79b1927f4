import { present, type Presented, type Storage } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import type { RequestFacts } from '../audit/request-facts.js';
import type { AccessState, JudgedSession } from '../identities/access-state.js';
import type { ListAnswer } from '../shared/list-declaration.js';
import type { ListQuery } from '../shared/list-query.js';
import type { Lists } from '../shared/lists.js';
import { sessionModel, type SessionRecord } from './session.model.js';
import { sessionErrors } from './sessions.errors.js';
import { sessionList } from './sessions.schemas.js';

export type ShownSessionsService = ReturnType<typeof createShownSessionsService>;

type ShownFields = 'ip' | 'userAgent' | 'createdAt' | 'lastUsedAt' | 'expiresAt';
type ShownSession = Pick<Presented<SessionRecord>, 'id' | ShownFields> & { isCurrent: boolean };

interface ShownSessionsOptions {
  storage: Storage;
  lists: Lists;
  /** Of a session, from its sign-in, in milliseconds. */
  lifetimes: { session: number };
  accessStateOf(identityId: string): Promise<AccessState | undefined>;
  /** Ends one session on every instance; says whether there was one. */
  end(sessionId: string): Promise<boolean>;
  audit: AuditService;
}

/** An epoch that no session has: what is looked for with it is not found. */
const NO_EPOCH = -1;

/** `countsSession` as a filter of the store. */
function countingIn(state: AccessState | undefined): object {
  if (!state || state.isBarred) return { epoch: NO_EPOCH };
  const { sessionEpoch: epoch, linkIds, sparedSessionId } = state;
  const counting = { epoch, linkId: { $in: [null, ...linkIds] } };
  return sparedSessionId === null ? counting : { $or: [counting, { _id: sparedSessionId }] };
}

/** The sessions of an identity, for itself and for admins to see and to end. */
export function createShownSessionsService({ storage, lists, lifetimes, accessStateOf, end, audit }: ShownSessionsOptions) {
  const Sessions = storage.model(sessionModel);

  /** Those whose tokens count at this moment; none of an identity that is missing, locked or deactivated. */
  async function liveOnes(identityId: string) {
    const state = await accessStateOf(identityId);
    const now = storage.clock.now();
    const createdAt = { $gt: new Date(now.getTime() - lifetimes.session) };
    return { identityId, ...countingIn(state), expiresAt: { $gt: now }, createdAt };
  }

  return {
    /**
     * The live sessions, the newest first.
     * @param currentId of the session that asks
     */
    async list(identityId: string, currentId: string, query: ListQuery): Promise<ListAnswer<ShownSession>> {
      const show = (record: SessionRecord) => ({ ...present(record), isCurrent: record._id === currentId });
      return lists.answer(sessionList, Sessions, { scope: await liveOnes(identityId), cursorScope: { identityId }, show }, query);
    },

    /** One of the identity's live sessions, as its identity judges it; undefined when it has ended. */
    async findLive(identityId: string, sessionId: string): Promise<JudgedSession | undefined> {
      const filter = { ...(await liveOnes(identityId)), _id: sessionId };
      return (await Sessions.findOne(filter, { epoch: 1, linkId: 1 }).lean<JudgedSession>()) ?? undefined;
    },

    /**
     * Ends one of the identity's live sessions; of several at once one ends it.
     * @throws sessionErrors.notFound when it is missing, has ended, or is another identity's
     */
    async end(identityId: string, sessionId: string, by: RequestFacts): Promise<void> {
      const found = await Sessions.exists({ ...(await liveOnes(identityId)), _id: sessionId });
      // a session never changes its identity: what was found to be theirs is still
      if (!found || !(await end(sessionId))) throw sessionErrors.notFound();
      await audit.record('session.ended', by, { identityId, details: { sessionId } });
    },
  };
}
