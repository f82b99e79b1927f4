import { openChannel } from '../channels.js';
import { runLoad, type LoadClient } from '../load.js';
import type { MeasuredProcess } from '../measured-process.js';
import type { Comparison } from '../rounds.js';
import { WARM_UP_REQUESTS, type Scenario } from '../scenario.js';

/** Posts messages, each client to its own channel and one client alone, against a route that inserts what it receives. */
export const messagePost: Scenario<Comparison[]> = async ({ tandem, bare, people }) => {
  const channels = await Promise.all(people.map((person) => openChannel(tandem.url, [person])));
  function sideOf(process: MeasuredProcess, count: number) {
    const clients = people.slice(0, count).map(({ id: senderId, accessToken }, at): LoadClient => {
      const headers = { authorization: `Bearer ${accessToken}` };
      const body = { channelId: channels[at], senderId, content: 'a message of the benchmark' };
      return { expected: 201, next: () => ({ method: 'POST', path: '/messages', headers, body }) };
    });
    return { process, run: (milliseconds: number) => runLoad(process.url, clients, milliseconds) };
  }
  const comparisonOf = (name: string, target: number, count: number): Comparison => ({
    name,
    of: 'cpu',
    target,
    warmUpRequests: WARM_UP_REQUESTS,
    tandem: sideOf(tandem, count),
    bare: sideOf(bare, count),
  });
  return [comparisonOf('post a message', 1.8, people.length), comparisonOf('post a message, one at a time', 1.3, 1)];
};
