import type { Memory } from '../measured-child.js';
import { signUp } from '../people.js';
import type { NeedScenario } from '../scenario.js';
import { openSocket, openSockets } from '../sockets.js';

const STREAMS = 5000;
/** An identity may have a hundred streams. */
const PEOPLE = 60;
/** Opened and closed before measuring, to exclude one-time costs. */
const WARM_UP = 500;

/** Open streams without traffic. */
export const idleStreams: NeedScenario = async ({ tandem }) => {
  const people = await signUp(tandem.url, PEOPLE);
  const open = (turn: number) => openSocket(tandem.url, '/messages/listen', people[turn % PEOPLE]?.accessToken);
  return {
    name: 'idle stream',
    of: 'need',
    unit: 'bytes',
    target: 4 * 1024,
    async measure() {
      for (const socket of await openSockets(WARM_UP, open)) socket.terminate();
      const before = await tandem.ask<Memory>('memory');
      const sockets = await openSockets(STREAMS, open);
      const after = await tandem.ask<Memory>('memory');
      for (const socket of sockets) socket.terminate();
      // some memory may come from what the process already had, and some is outside its heap
      return [{ tandem: Math.max(after.resident - before.resident, after.used - before.used) / STREAMS }];
    },
  };
};
