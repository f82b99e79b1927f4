/** Failures before a network is locked, and the minutes of the first, second, third and all later locks (decisions A9). */
export const FAILURES_TO_LOCK = 5;
const LOCK_MINUTES = [1, 5, 15, 60] as const;
/** Failures within an hour, over all networks, after which only known places may try (decisions H9). */
export const STRANGERS_FAILURES = 50;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A network's count is reset after this time without a failure. */
export const MEMORY_MS = 24 * HOUR_MS;
/** How long an attempt may hold its place: longer than any request that still gets an answer. */
export const PLACE_MS = MINUTE_MS;
/**
 * Maximum number of networks per record. More than that fail within a day only during an attack, when the hourly count decides
 * anyway.
 */
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
  /** Whether the place is known, so that the hourly count does not apply. */
  mayPass: boolean;
  now: Date;
}

/** The update that takes a place if one is free. The record then contains it. */
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
      // null sorts before every date
      { $lte: [{ $ifNull: ['$$own.lockedUntil', null] }, now] },
      { $lt: [{ $size: those('$underWay', { $eq: ['$$this.network', network] }) }, left] },
      ...(mayPass ? [] : [{ $lt: [{ $add: [{ $size: '$recent' }, { $size: '$underWay' }] }, STRANGERS_FAILURES] }]),
    ],
  };
  const taken = { $cond: [isOpen, { $concatArrays: ['$underWay', [{ id, network, until }]] }, '$underWay'] };
  return [{ $set: current }, { $set: { underWay: { $let: { vars: { own: own(network) }, in: taken } } } }];
}

/** The update that counts a failure and frees the place. */
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

/** Matches a record that only this attempt needs. */
const aloneWith = (key: string, id: string) => {
  return { _id: key, underWay: { $size: 1 }, 'underWay.id': id, networks: { $size: 0 }, recent: { $size: 0 } };
};

/** Frees the place: `alone` removes a record that nobody else needs; else `update` removes the place. */
export function leaving(key: string, id: string) {
  return { alone: aloneWith(key, id), update: [{ $set: { underWay: others(id) } }] };
}

/** Frees the place and clears the network's failures. The hourly count stays. */
export function succeeding(key: string, id: string, network: string) {
  return { alone: aloneWith(key, id), update: [{ $set: { networks: ofOthers(network), underWay: others(id) } }] };
}
