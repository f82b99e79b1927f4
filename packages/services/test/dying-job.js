import { createTandem } from '@tandem/services';
import { openStorage } from '@tandem/storage';

/** Runs a job that never ends, and tells so. Runs over the build: `node dying-job.js <uri> <name>`. */
const [uri = '', name = ''] = process.argv.slice(2);
const tandem = await createTandem({
  storage: await openStorage({ uri }),
  authSecrets: { authEncSecret: 'what encrypts the tokens of tests', authSignSecret: 'what signs all the tokens of tests' },
});
tandem.every('1s', name, () => {
  process.stdout.write('runs\n');
  return new Promise(() => {});
});
tandem.start();
