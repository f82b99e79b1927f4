import { TRACE, shownIn, type TraceEntry, type Traced } from './traces.js';

/** The fields by which records of a collection belong to an organization. */
export function organizationIn({ organization }: Traced): string[] {
  if (organization === undefined) return [];
  return [typeof organization === 'string' ? organization : organization.by];
}

/**
 * The events of records of a collection, each with the state that its record has or keeps of it. A record is read once for
 * all of its events: with 500 waiting states it is large.
 */
export function withState(collection: string, settings: Traced): object[] {
  const entries = { input: `$record.${TRACE}.events`, as: 'one', cond: { $eq: ['$$one.version', '$$event.version'] } };
  const withEntry = { $mergeObjects: ['$$event', { entry: { $first: { $filter: entries } } }] };
  return [
    { $match: { 'subject.type': settings.kind, version: { $exists: true } } },
    { $group: { _id: '$subject.id', events: { $push: '$$ROOT' } } },
    { $lookup: { from: collection, localField: '_id', foreignField: '_id', as: 'record' } },
    { $unwind: '$record' },
    { $project: { event: { $map: { input: '$events', as: 'event', in: withEntry } }, now: shownIn('$record', settings) } },
    { $unwind: '$event' },
    // without an entry, the record has been cleared: the event is in the log
    { $match: { 'event.entry': { $exists: true } } },
    { $replaceWith: { $mergeObjects: ['$event', { state: { $ifNull: ['$event.entry.state', '$now'] } }] } },
    { $unset: ['version', 'entry'] },
  ];
}

/** What a change of a record tells: of the record, whose state it leaves where it is; or of its elements. */
export function* toldBy({ kind, parts }: Traced, id: string, { version, ...entry }: TraceEntry) {
  const isOfPartsAlone = entry.parts !== undefined && entry.type === 'updated';
  if (!isOfPartsAlone) yield { type: `${kind}.${entry.type}`, subject: { type: kind, id }, version };
  if (!parts || !entry.parts) return;
  const idOf = (element: object) => String(Reflect.get(element, parts.by));
  const present = new Map(entry.parts.now.map((element) => [idOf(element), element]));
  const before = new Set(entry.parts.was.map(idOf));
  const subject = (element: object) => ({ type: parts.kind, id: idOf(element) });
  for (const [element, one] of present)
    yield {
      type: `${parts.kind}.${before.has(element) ? 'updated' : 'created'}`,
      subject: subject(one),
      state: one as Record<string, unknown>,
    };
  for (const one of entry.parts.was)
    if (!present.has(idOf(one)))
      yield { type: `${parts.kind}.deleted`, subject: subject(one), state: one as Record<string, unknown> };
}

/** The update that takes told changes out of a record. */
export function clearing(version: number): object[] {
  const left = { $filter: { input: `$${TRACE}.events`, as: 'one', cond: { $gt: ['$$one.version', version] } } };
  const isNothing = { $eq: [{ $size: `$${TRACE}.events` }, 0] };
  return [
    { $set: { [TRACE]: { events: left } } },
    { $set: { [TRACE]: { since: { $cond: [isNothing, '$$REMOVE', `$${TRACE}.since`] } } } },
  ];
}
