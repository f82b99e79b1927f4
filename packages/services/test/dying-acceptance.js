import { createTandem } from '@tandem/services';
import { openStorage } from '@tandem/storage';
import express from 'express';

/**
 * Serves until a unit of work of this name comes to a step, counted from 0, and dies before it; after the last one where there is none
 * of that number. Says where it listens. Runs over the build: `node dying-acceptance.js <uri> <unit> <step> <ms>`,
 * by a clock that is ahead by so many milliseconds.
 */
const [uri = '', unit, at, ahead] = process.argv.slice(2);
const storage = await openStorage({ uri, clock: { now: () => new Date(Date.now() + Number(ahead)) } });
const die = async () => void process.kill(process.pid, 'SIGKILL');

/** @type {typeof storage.defineUnit} */
function defineUnit(settings) {
  if (settings.name !== unit) return storage.defineUnit(settings);
  const end = { name: 'the end', run: die, undo: die };
  const steps = [...settings.steps.map((step, n) => (n === Number(at) ? { ...step, run: die } : step)), end];
  return storage.defineUnit({ ...settings, steps });
}

const tandem = await createTandem({
  storage: { ...storage, defineUnit },
  authSecrets: { authEncSecret: 'what encrypts the tokens of tests', authSignSecret: 'what signs all the tokens of tests' },
  bcryptCost: 4,
});
const server = express()
  .use(tandem.routes(), ...tandem.errorMiddlewares())
  .listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') process.stdout.write(`http://127.0.0.1:${address?.port}\n`);
  });
