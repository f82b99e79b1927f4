import { openMailDriver } from '@tandem/drivers/mail';
import { createTandem } from '@tandem/services';
import { openStorage } from '@tandem/storage';

/** Queues a mail and dies before it is sent, or sends until it is killed. Runs over the build: `node dying-mailer.js <uri> <MAIL_URL> <to> <queue | send>`. */
const [uri = '', mailUrl = '', to = '', end] = process.argv.slice(2);
const tandem = await createTandem({
  storage: await openStorage({ uri }),
  authSecrets: { authEncSecret: 'what encrypts the tokens of tests', authSignSecret: 'what signs all the tokens of tests' },
  mail: { driver: openMailDriver(mailUrl, { outboxDir: '' }), linksUrl: 'https://app.example.org' },
});
const { mails } = tandem.services;
mails.prepareWith(async (mail) => ({ to: mail.to ?? '' }));
if (end === 'send') mails.startSending();
await mails.enqueue([{ template: 'deactivated', to }]);
if (end === 'queue') process.kill(process.pid, 'SIGKILL');
