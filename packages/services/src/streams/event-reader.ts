import { IteratorReader, ruleErrors } from '@tandem/core';
import { tracked } from '@trpc/server';
import { stillReads, type RoleOf } from '../events/event-rules.js';
import type { EventStreamInput } from '../events/events.schemas.js';
import type { EventsService } from '../events/events.service.js';
import type { Actor } from '../shared/actor.js';

/** Follows the log of events for one caller. */
export class EventReader extends IteratorReader {
  readonly #over = new AbortController();

  constructor(
    private readonly actor: Actor,
    private readonly log: EventsService,
    private readonly roleOf: RoleOf,
  ) {
    super(actor.identityId);
  }

  override end(failure?: unknown): void {
    super.end(failure);
    this.#over.abort(failure);
  }

  /**
   * Yields the events after `since`, and those that are made from now on.
   * @throws eventErrors.gone, validationError; ruleErrors.notAdmin when the caller may no longer read them
   */
  async *follow({ lastEventId: _, since, ...asked }: EventStreamInput) {
    const { actor, log } = this;
    const { signal } = this.#over;
    let at = since;
    while (!signal.aborted) {
      const { data, nextSince } = await log.read({ ...asked, since: at }, actor.isAdmin);
      if (!(await stillReads(this.roleOf, actor, asked.organizationId))) throw ruleErrors.notAdmin();
      for (const event of data) yield tracked(event.id, event);
      at = nextSince ?? undefined;
      if (data.length === 0) await log.beyond(at, signal);
    }
    const failure: unknown = signal.reason;
    if (failure !== undefined && !(failure instanceof DOMException)) throw failure;
  }
}
