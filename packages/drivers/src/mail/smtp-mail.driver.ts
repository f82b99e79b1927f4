import { createTransport } from 'nodemailer';
import type { MailDriver } from './mail.driver.js';

/** The longest that a mail may take, whatever the server does, in milliseconds. */
const SEND_MS = 15_000;
/** The longest that connecting, the greeting, and each further answer may take, in milliseconds. */
const STEP_MS = 10_000;

function isLoopback(hostname: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

/**
 * Sends by a mail server.
 * @param url `smtp://user:password@host:587` (upgraded to TLS where the server can) or `smtps://…`; its query takes nodemailer's options
 */
export function openSmtpMailDriver(url: string): MailDriver {
  const { protocol, hostname, username } = new URL(url);
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 4,
    // for a connection that the server has closed while nobody used it; further tries are the queue's
    maxRequeues: 1,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    // a password goes over the network encrypted or not at all, whatever a server, or who stands between, says it can
    ...(protocol === 'smtp:' && username !== '' && !isLoopback(hostname) && { requireTLS: true }),
  });
  return {
    async send({ to, ...mail }) {
      const signal = AbortSignal.timeout(SEND_MS);
      try {
        // as an object: a comma in it makes no second recipient
        const recipient = { name: '', address: to };
        await transport.sendMail({ ...mail, to: recipient, headers: { 'Auto-Submitted': 'auto-generated' }, signal });
      } catch (error) {
        if (signal.aborted)
          throw Object.assign(new Error('The mail server is too slow', { cause: error }), { code: 'ETIMEDOUT' });
        throw error;
      }
    },
    async verify() {
      await transport.verify();
    },
    async close() {
      transport.close({ force: true });
    },
  };
}
