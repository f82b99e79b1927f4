import type { EventBus } from '@tandem/core';
import type { Lists } from '@tandem/lists';
import type { LoggedEvent, Storage } from '@tandem/storage';
import { withoutPrivate } from '../shared/changes.js';
import { EVENTS_APPENDED, createEventTail, type Appended } from './event-tail.js';
import { eventErrors as errors } from './events.errors.js';
import type { ShownEvent, ShownEventPage } from './event-records.js';
import { typesIn } from './event-types.js';

export type EventsService = ReturnType<typeof createEventsService>;

/** How often streams look for events of other instances, in milliseconds. */
const LOOKED_MS = 700;
/** The kinds of records with the text of a message. */
const WITH_TEXTS = ['message', 'report'];

interface EventsOptions {
  storage: Storage;
  lists: Lists;
  bus: EventBus;
  /** How long an event is kept, in milliseconds. */
  eventRetention: number;
  /** Whether events of messages show their texts. */
  eventMessageTexts: boolean;
}

export interface EventQuery {
  since?: string | undefined;
  /** `order.*,product.created` */
  types?: string | undefined;
  organizationId?: string | undefined;
  limit?: number | undefined;
}

/** What has happened to records, in the order in which it became known (decisions E1). */
export function createEventsService({ storage, lists, bus, eventRetention, eventMessageTexts }: EventsOptions) {
  const { events: feed } = storage;
  feed.keep(eventRetention);
  feed.onAppended((last) => bus.publish(EVENTS_APPENDED, { last } satisfies Appended));

  /** Leaves out what does not fit its schema (decisions H20), and the kinds that this server does not know. */
  async function show(events: readonly LoggedEvent[], isAdmin: boolean): Promise<ShownEvent[]> {
    const data = new Map<LoggedEvent, object | undefined>();
    await Promise.all(
      lists.kinds().map(async (kind) => {
        const ofKind = events.filter(({ subject }) => subject.type === kind);
        const records = ofKind.map(({ state }) => (isAdmin ? state : withoutPrivate(state)));
        const rows = await lists.told(kind, records);
        for (const [at, event] of ofKind.entries()) data.set(event, rows[at]);
      }),
    );
    return events.flatMap((event) => {
      const { _id: id, at, state: _, ...rest } = event;
      const shown = data.get(event);
      if (!shown) return [];
      const isSilent = WITH_TEXTS.includes(event.subject.type) && !eventMessageTexts;
      const told = { id, ...rest, at: at.toISOString(), data: isSilent ? withoutText(shown) : { ...shown } };
      // the kind has its own schema, by which `told` has been checked
      return [told as ShownEvent];
    });
  }

  /** @throws errors.gone, validationError */
  async function read({ since, types, organizationId, limit = 50 }: EventQuery, isAdmin: boolean): Promise<ShownEventPage> {
    const named = types === undefined ? undefined : types.split(',').map((name) => name.trim());
    const wanted = named && typesIn(named, lists.kinds(), (name) => `query parameter 'types' names no type of events: '${name}'`);
    // an index leads from the organization to its events by type
    const ofAll = organizationId === undefined ? undefined : typesIn(lists.kinds().map((kind) => `${kind}.*`), lists.kinds(), String); // prettier-ignore
    const page = await feed.read({ since, types: wanted ?? ofAll, organizationId, limit });
    if (page.isGone) throw errors.gone();
    return { data: await show(page.events, isAdmin), nextSince: page.nextSince };
  }

  return {
    read,

    /** Those of some events that the log has. */
    async byIds(ids: readonly string[]): Promise<ShownEvent[]> {
      return show(await feed.byIds(ids), true);
    },

    /** The id of the last event; null before the first. */
    last: feed.last,

    /** Resolves with the last event's id when there is one behind the known one, or with this when the signal ends the wait. */
    beyond: createEventTail(bus, feed.last, LOOKED_MS),
  };
}

function withoutText(message: object): Record<string, unknown> {
  const { content, title, ...others } = message as Record<string, unknown>;
  return others;
}
