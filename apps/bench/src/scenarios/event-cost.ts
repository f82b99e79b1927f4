import { runLoad, type LoadClient } from '../load.js';
import { WARM_UP_REQUESTS, type Scenario } from '../scenario.js';

/** Makes records of which events tell, against records of which none do, at one host application. */
export const eventCost: Scenario = async ({ start, people }) => {
  const host = await start('noting-server');
  const sideOf = (path: string) => {
    const clients = people.map(({ accessToken }): LoadClient => {
      const headers = { authorization: `Bearer ${accessToken}` };
      return { expected: 201, next: () => ({ method: 'POST', path, headers, body: { text: 'a note of the benchmark' } }) };
    });
    return { process: host, run: (milliseconds: number) => runLoad(host.url, clients, milliseconds) };
  };
  return {
    name: 'a write with an event',
    of: 'cpu',
    target: 1.15,
    warmUpRequests: WARM_UP_REQUESTS,
    tandem: sideOf('/notes'),
    bare: sideOf('/quietnotes'),
  };
};
