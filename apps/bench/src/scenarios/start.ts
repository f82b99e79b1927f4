import { setTimeout as wait } from 'node:timers/promises';
import { MEGABYTE, type Need, type NeedComparison } from '../needs.js';
import type { Scenario } from '../scenario.js';

const PAIRS = 7;
/** The last pairs run on, until what their start left behind may have been collected. */
const KEPT_PAIRS = 2;
const KEPT_MS = 30_000;

/** What a start needs until the first answer, a page of products: of the server as `npm start` runs it, and the bare one. */
export const start: Scenario<NeedComparison[]> = async ({ startServer }) => {
  async function measure(which: 'tandem' | 'bare', isKept: boolean) {
    const server = await startServer(which);
    const first = await server.firstAnswer({ method: 'GET', path: '/products' });
    const memory = server.residentBytes();
    // awaited when all have started
    const kept = isKept
      ? wait(KEPT_MS)
          .then(server.residentBytes)
          .finally(() => void server.kill())
      : undefined;
    if (!isKept) await server.kill();
    return { ...first, memory, kept };
  }
  const pairs: Record<'tandem' | 'bare', Awaited<ReturnType<typeof measure>>>[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const isKept = pair >= PAIRS - KEPT_PAIRS;
    pairs.push({ tandem: await measure('tandem', isKept), bare: await measure('bare', isKept) });
  }
  const needs = (figure: 'time' | 'cpu' | 'memory') =>
    pairs.map(({ tandem, bare }): Need => ({ tandem: tandem[figure], bare: bare[figure] }));
  const later = await Promise.all(
    pairs.slice(-KEPT_PAIRS).map(async ({ tandem, bare }): Promise<Need> => {
      return { tandem: (await tandem.kept) ?? Number.NaN, bare: (await bare.kept) ?? Number.NaN };
    }),
  );

  return [
    {
      name: 'start until the first answer',
      of: 'need',
      unit: 'microseconds',
      target: 600_000,
      measure: async () => needs('time'),
    },
    { name: 'CPU until then', of: 'need', unit: 'microseconds', measure: async () => needs('cpu') },
    { name: 'memory then', of: 'need', unit: 'bytes', target: 120 * MEGABYTE, measure: async () => needs('memory') },
    { name: 'memory 30 s later', of: 'need', unit: 'bytes', target: 95 * MEGABYTE, measure: async () => later },
  ];
};
