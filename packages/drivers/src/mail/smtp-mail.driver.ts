import { createTransport } from 'nodemailer';
import type { MailDriver } from './mail.driver.js';

/**
 * Longest time for one mail, in milliseconds. Servers that scan mails answer late: giving up earlier would send the
 * mail again, and each attempt would arrive.
 */
const SEND_MS = 45_000;
/** Longest time for finding the server and connecting, in milliseconds. */
const CONNECT_MS = 10_000;

function isLoopback(hostname: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

/**
 * Sends through an SMTP server.
 * @param url `smtp://user:password@host:587` (upgraded to TLS where the server can) or `smtps://…`; its query takes
 * nodemailer's options
 * @param sendMs longest time for one mail, in milliseconds; 45,000 by default
 */
export function openSmtpMailDriver(url: string, sendMs = SEND_MS): MailDriver {
  const { protocol, hostname, username } = new URL(url);
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 4,
    // for a connection that the server closed while it was idle; further attempts are the queue's
    maxRequeues: 1,
    connectionTimeout: Math.min(CONNECT_MS, sendMs),
    dnsTimeout: Math.min(CONNECT_MS, sendMs),
    greetingTimeout: sendMs,
    socketTimeout: sendMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    // a password is never sent unencrypted, whatever the server, or a man in the middle, claims to support
    ...(protocol === 'smtp:' && username !== '' && !isLoopback(hostname) && { requireTLS: true }),
  });
  return {
    async send({ to, from, ...mail }) {
      const signal = AbortSignal.timeout(sendMs);
      try {
        // objects: in a text a comma adds a recipient, a colon begins a group, and parentheses are a comment
        const recipient = { name: '', address: to };
        const [, name = '', address = from] = /^\s*"?([^"<]*?)"?\s*<([^<>]+)>\s*$/.exec(from) ?? [];
        const headers = { 'Auto-Submitted': 'auto-generated' };
        await transport.sendMail({ ...mail, from: { name, address }, to: recipient, headers, signal });
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
