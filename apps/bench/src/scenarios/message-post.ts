import { openChannel } from '../channels.js';
import { runLoad, type LoadClient } from '../load.js';
import type { MeasuredProcess } from '../measured-process.js';
import { WARM_UP_REQUESTS, type Scenario } from '../scenario.js';

/** Posts messages, each client to its own channel, against a route that inserts what it receives. */
export const messagePost: Scenario = async ({ tandem, bare, people }) => {
  const channels = await Promise.all(people.map((person) => openChannel(tandem.url, [person])));
  function sideOf(process: MeasuredProcess) {
    const clients = people.map(({ id: senderId, accessToken }, at): LoadClient => {
      const headers = { authorization: `Bearer ${accessToken}` };
      const body = { channelId: channels[at], senderId, content: 'a message of the benchmark' };
      return { expected: 201, next: () => ({ method: 'POST', path: '/messages', headers, body }) };
    });
    return { process, run: (milliseconds: number) => runLoad(process.url, clients, milliseconds) };
  }
  return {
    name: 'post a message',
    of: 'cpu',
    target: 1.8,
    warmUpRequests: WARM_UP_REQUESTS,
    tandem: sideOf(tandem),
    bare: sideOf(bare),
  };
};
