import { runLoad } from '../load.js';
import { readers } from './notification-list.js';
import type { Need } from '../needs.js';
import type { NeedScenario } from '../scenario.js';

const PAIRS = 3;
const LOAD_MS = 8000;

/** Memory at the end of a load of notification lists: of the server as `npm start` runs it, and the bare one. */
export const memoryLoad: NeedScenario = async (stage) => {
  const clients = await readers(stage);

  async function measureOne(which: 'tandem' | 'bare'): Promise<number> {
    const server = await stage.startServer(which);
    await server.firstAnswer({ method: 'GET', path: '/products' });
    await runLoad(server.url, clients, LOAD_MS);
    const bytes = server.residentBytes();
    await server.kill();
    return bytes;
  }
  return {
    name: 'memory under a load of notification lists',
    of: 'need',
    unit: 'bytes',
    ratioTarget: 1.4,
    async measure() {
      const needs: Need[] = [];
      for (let pair = 0; pair < PAIRS; pair++) needs.push({ tandem: await measureOne('tandem'), bare: await measureOne('bare') });
      return needs;
    },
  };
};
