import { runLoad, type LoadClient } from '../load.js';
import type { MeasuredProcess } from '../measured-process.js';
import { WARM_UP_REQUESTS, type Scenario } from '../scenario.js';

/** Exchanges refresh tokens: each client has its own chain, and uses the token of its last answer. */
export const tokenRefresh: Scenario = async ({ tandem, bare, people }) => {
  function sideOf(process: MeasuredProcess, first: readonly string[]) {
    const clients = first.map((token): LoadClient => {
      let refreshToken = token;
      return {
        expected: 200,
        next: () => ({ method: 'POST', path: '/auth/token/refresh', body: { refreshToken } }),
        take: (body) => ({ refreshToken } = JSON.parse(body) as { refreshToken: string }),
      };
    });
    return { process, run: (ms: number) => runLoad(process.url, clients, ms) };
  }
  const rows = await bare.ask<string[]>('makeRows', people.length);
  return {
    name: 'token refresh',
    of: 'cpu',
    target: 2,
    warmUpRequests: WARM_UP_REQUESTS,
    tandem: sideOf(
      tandem,
      people.map(({ refreshToken }) => refreshToken),
    ),
    bare: sideOf(bare, rows),
  };
};
