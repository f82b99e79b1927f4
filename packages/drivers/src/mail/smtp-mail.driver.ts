import { createTransport } from 'nodemailer';
import type { MailDriver } from './mail.driver.js';

/**
 * The longest that a mail may take, whatever the server does, in milliseconds. Servers that look a mail through answer late: who gave up
 * before would send it again, and it would arrive each time.
 */
const SEND_MS = 45_000;
/** The longest that finding the server and connecting may take, in milliseconds. */
const CONNECT_MS = 10_000;

function isLoopback(hostname: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

/**
 * Sends by a mail server.
 * @param url `smtp://user:password@host:587` (upgraded to TLS where the server can) or `smtps://…`; its query takes nodemailer's options
 * @param sendMs the longest that a mail may take, in milliseconds; 45,000 by default
 */
export function openSmtpMailDriver(url: string, sendMs = SEND_MS): MailDriver {
  const { protocol, hostname, username } = new URL(url);
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 4,
    // for a connection that the server has closed while nobody used it; further tries are the queue's
    maxRequeues: 1,
    connectionTimeout: Math.min(CONNECT_MS, sendMs),
    dnsTimeout: Math.min(CONNECT_MS, sendMs),
    greetingTimeout: sendMs,
    socketTimeout: sendMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    // a password goes over the network encrypted or not at all, whatever a server, or who stands between, says it can
    ...(protocol === 'smtp:' && username !== '' && !isLoopback(hostname) && { requireTLS: true }),
  });
  return {
    async send({ to, ...mail }) {
      const signal = AbortSignal.timeout(sendMs);
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
