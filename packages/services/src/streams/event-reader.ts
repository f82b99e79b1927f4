import { Feed, IteratorReader, ruleErrors, type ReaderSocket } from '@tandem/core';
import { createGate } from '@tandem/list-query';
import { toListFailure } from '@tandem/lists';
import { tracked } from '@trpc/server';
import { stillReads, type RoleOf } from '../events/event-rules.js';
import type { EventStreamInput } from '../events/events.schemas.js';
import type { EventsService } from '../events/events.service.js';
import type { Actor } from '../shared/actor.js';

/** For whom the log is read at once, because an event wakes all of its readers; for each, one read at a time. */
const READS = { atOnce: 4, rest: 1, waitMs: 60_000, waitingMax: 5000 };

/** The readers of the log in this process. */
export class EventFeed extends Feed {
  readonly inTurn = createGate(READS);

  constructor(
    readonly log: EventsService,
    readonly roleOf: RoleOf,
  ) {
    super('events');
  }
}

/** Follows the log of events for one caller. */
export class EventReader extends IteratorReader {
  readonly #over = new AbortController();

  constructor(
    private readonly actor: Actor,
    private readonly feed: EventFeed,
    socket: ReaderSocket | undefined,
  ) {
    super(actor.identityId, socket);
  }

  override end(failure?: unknown): void {
    super.end(failure);
    this.#over.abort(failure);
  }

  /**
   * Yields the events after `since`, and those that are made from now on.
   * @throws eventErrors.gone, validationError; ruleErrors.notAdmin when the caller may no longer read them;
   * requestErrors.tooMany when it has as many readers as allowed; requestErrors.unavailable when a wait takes too long
   */
  async *follow({ lastEventId: _, since, ...asked }: EventStreamInput) {
    const { actor, feed, identityId } = this;
    const { signal } = this.#over;
    const read = async () => {
      const page = await feed.log.read({ ...asked, since: at }, actor.isAdmin);
      if (!(await stillReads(feed.roleOf, actor, asked.organizationId))) throw ruleErrors.notAdmin();
      return page;
    };
    let [at, isAtEnd] = [since, false];
    // read in its turn alone: a socket that takes nothing holds one page of all its readers
    async function* page() {
      const { data, nextSince } = await feed.inTurn({ key: identityId, isAnonymous: false }, read, signal);
      for (const event of data) yield tracked(event.id, event);
      [at, isAtEnd] = [nextSince ?? undefined, data.length === 0];
    }
    feed.checkRoom(identityId);
    feed.readers.add(this);
    try {
      while (!signal.aborted) {
        yield* this.replayed(page());
        if (isAtEnd) await feed.log.beyond(at, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw toListFailure(error);
    } finally {
      feed.readers.delete(this);
    }
    const failure: unknown = signal.reason;
    if (failure !== undefined && !(failure instanceof DOMException)) throw failure;
  }
}
