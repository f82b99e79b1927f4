import { createTandem } from '@tandem/services';
import { openStorage } from '@tandem/storage';

/** Sends what is due to webhooks until it is killed. Runs over the build: `node dying-sender.js <uri>`. */
const [uri = ''] = process.argv.slice(2);
const tandem = await createTandem({
  storage: await openStorage({ uri }),
  authSecrets: { authEncSecret: 'what encrypts the tokens of tests', authSignSecret: 'what signs all the tokens of tests' },
  webhooks: { privateAddresses: true },
});
tandem.services.webhooks.sending.start();
