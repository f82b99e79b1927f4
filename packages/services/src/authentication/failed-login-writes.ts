/** Failures after which a network waits, and how long: the first, second, third and every further time (decisions A9). */
export const FAILURES_TO_LOCK = 5;
const LOCK_MINUTES = [1, 5, 15, 60] as const;
/** Failures within the last hour, from whatever networks, after which nobody may try but from known places (decisions H9). */
export const STRANGERS_FAILURES = 50;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** After this time without a failure from a network its count starts anew. */
export const MEMORY_MS = 24 * HOUR_MS;
/** For how long an attempt holds its place: longer than any takes that is still answered. */
export const PLACE_MS = MINUTE_MS;
/** Networks that a record has at most: so many fail within a day only where an attack goes on, and then the hour's failures count. */
const MOST_NETWORKS = 1000;

const before = (now: Date, milliseconds: number) => new Date(now.getTime() - milliseconds);
const after = (now: Date, milliseconds: number) => new Date(now.getTime() + milliseconds);
const those = (field: string, cond: object) => ({ $filter: { input: { $ifNull: [field, []] }, cond } });
const recentAt = (now: Date) => those('$recent', { $gt: ['$$this', before(now, HOUR_MS)] });
const others = (id: string) => those('$underWay', { $ne: ['$$this.id', id] });
const own = (network: string) => ({ $first: those('$networks', { $eq: ['$$this.network', network] }) });
const ofOthers = (network: string) => those('$networks', { $ne: ['$$this.network', network] });

interface Taking {
  id: string;
  network: string;
  /** Whether the failures of the last hour do not count for it: the place is known. */
  mayPass: boolean;
  now: Date;
}

/** Takes a place, where there is one: the record has it afterwards. */
export function taking({ id, network, mayPass, now }: Taking): object[] {
  const until = after(now, PLACE_MS);
  const current = {
    networks: those('$networks', { $gt: ['$$this.at', before(now, MEMORY_MS)] }),
    recent: recentAt(now),
    underWay: those('$underWay', { $gt: ['$$this.until', now] }),
    createdAt: { $ifNull: ['$createdAt', now] },
    updatedAt: now,
    expiresAt: { $max: ['$expiresAt', until] },
  };
  const left = { $subtract: [FAILURES_TO_LOCK, { $mod: [{ $ifNull: ['$$own.failures', 0] }, FAILURES_TO_LOCK] }] };
  const isOpen = {
    $and: [
      // null comes before every date
      { $lte: [{ $ifNull: ['$$own.lockedUntil', null] }, now] },
      { $lt: [{ $size: those('$underWay', { $eq: ['$$this.network', network] }) }, left] },
      ...(mayPass ? [] : [{ $lt: [{ $add: [{ $size: '$recent' }, { $size: '$underWay' }] }, STRANGERS_FAILURES] }]),
    ],
  };
  const taken = { $cond: [isOpen, { $concatArrays: ['$underWay', [{ id, network, until }]] }, '$underWay'] };
  return [{ $set: current }, { $set: { underWay: { $let: { vars: { own: own(network) }, in: taken } } } }];
}

/** Counts a failure and leaves the place. */
export function failing({ id, network, now }: Omit<Taking, 'mayPass'>): object[] {
  const failures = { $add: [{ $ifNull: ['$$own.failures', 0] }, 1] };
  const round = { $min: [{ $subtract: [{ $divide: ['$$failures', FAILURES_TO_LOCK] }, 1] }, LOCK_MINUTES.length - 1] };
  const until = { $add: [now, { $multiply: [MINUTE_MS, { $arrayElemAt: [[...LOCK_MINUTES], round] }] }] };
  const isFifth = { $eq: [{ $mod: ['$$failures', FAILURES_TO_LOCK] }, 0] };
  const lockedUntil = { $cond: [isFifth, until, { $ifNull: ['$$own.lockedUntil', null] }] };
  const counted = { $let: { vars: { failures }, in: { network, failures: '$$failures', lockedUntil, at: now } } };
  const networks = { $let: { vars: { own: own(network) }, in: { $concatArrays: [ofOthers(network), [counted]] } } };
  return [
    {
      $set: {
        networks: { $slice: [networks, -MOST_NETWORKS] },
        recent: { $concatArrays: [recentAt(now), [now]] },
        underWay: others(id),
        createdAt: { $ifNull: ['$createdAt', now] },
        updatedAt: now,
        expiresAt: after(now, MEMORY_MS),
      },
    },
  ];
}

/** Of a record that nobody but this attempt needs. */
const aloneWith = (key: string, id: string) => {
  return { _id: key, underWay: { $size: 1 }, 'underWay.id': id, networks: { $size: 0 }, recent: { $size: 0 } };
};

/** Leaves the place: removes the record where nobody else needs it, else the place alone. */
export function leaving(key: string, id: string) {
  return { alone: aloneWith(key, id), update: [{ $set: { underWay: others(id) } }] };
}

/** The same, and forgets the failures of the network; those of the last hour go on to count. */
export function succeeding(key: string, id: string, network: string) {
  return { alone: aloneWith(key, id), update: [{ $set: { networks: ofOthers(network), underWay: others(id) } }] };
}
