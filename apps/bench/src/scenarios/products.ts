import { eachConnected } from '../connection.js';
import { runLoad, type LoadClient } from '../load.js';
import type { MeasuredProcess } from '../measured-process.js';
import { signUpAdmin } from '../people.js';
import { MANY_CONNECTIONS, WARM_UP_REQUESTS, type Scenario } from '../scenario.js';

const PRODUCTS = 1000;
/** The most that one request creates. */
const BATCH = 100;

/** A page of 10 of 1,000 products, which anybody may read, with the total and the images. */
export const products: Scenario = async ({ tandem, bare, db }) => {
  const admin = await signUpAdmin(tandem.url, db);
  await eachConnected(tandem.url, [admin], async (connection, { accessToken }) => {
    const headers = { authorization: `Bearer ${accessToken}` };
    for (let made = 0; made < PRODUCTS; made += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, at) => ({
        name: `Rye loaf ${made + at}`,
        description: 'Baked in the morning from whole grain, keeps for a week in a dry place',
        price: { amount: 4.5, currency: 'EUR', taxIncluded: true },
      }));
      await connection.send({ method: 'POST', path: '/products/batch', headers, body: batch }, 201);
    }
  });
  const client: LoadClient = { expected: 200, next: () => ({ method: 'GET', path: '/products' }) };
  const clients = Array.from({ length: MANY_CONNECTIONS }, () => client);
  const sideOf = (process: MeasuredProcess) => ({ process, run: (ms: number) => runLoad(process.url, clients, ms) });
  return {
    name: 'products, 32 connections',
    of: 'cpu',
    target: 1.1,
    p99Target: 1.2,
    warmUpRequests: WARM_UP_REQUESTS,
    tandem: sideOf(tandem),
    bare: sideOf(bare),
  };
};
