import http from 'node:http';
import https from 'node:https';
import type { PublicAddresses } from './public-addresses.js';

/** How much of an answer is read, in bytes. None of it is kept. */
const ANSWER_BYTES = 16 * 1024;

/** How a request ended. Without a status there was no answer. */
export interface Answer {
  status: number | null;
  durationMs: number;
  /** What went wrong, in words that tell nothing of the answer; null for a status of 2xx. */
  error: string | null;
}

function errorOf(error: NodeJS.ErrnoException | undefined): string {
  if (error?.code === 'ENOTPUBLIC') return 'the address is not public';
  if (error?.code === 'ENOTFOUND') return 'the name does not resolve';
  // a word of the operating system or of OpenSSL, never text that a server has chosen
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(error?.code ?? '') ? `no answer: ${error?.code}` : 'no answer';
}

/**
 * Sends webhooks' messages. Redirects are not followed.
 * @param timeoutMs until the answer
 */
export function createRequests(addresses: PublicAddresses, timeoutMs: number) {
  const underWay = new Set<http.ClientRequest>();

  /** @returns the status; rejects without one */
  function exchange(url: URL, headers: Record<string, string>, body: string): Promise<number> {
    const options = { method: 'POST', headers, agent: false, ...addresses.connectionTo(url) };
    return new Promise((resolve, reject) => {
      const sent = (url.protocol === 'https:' ? https : http).request(url, options);
      const timer = setTimeout(() => sent.destroy(Object.assign(new Error('too slow'), { code: 'ETIMEDOUT' })), timeoutMs);
      let status: number | undefined;
      let failure: Error | undefined;
      underWay.add(sent);
      sent.once('response', (response) => {
        status = response.statusCode;
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > ANSWER_BYTES) sent.destroy();
        });
        response.on('error', () => {});
      });
      sent.once('upgrade', (_response, socket) => socket.destroy());
      sent.on('error', (error) => (failure ??= error));
      sent.once('close', () => {
        clearTimeout(timer);
        underWay.delete(sent);
        if (status === undefined) reject(failure ?? new Error('no answer'));
        else resolve(status);
      });
      sent.end(body);
    });
  }

  return {
    /** Sends one message. Does not reject. */
    async post(url: URL, headers: Record<string, string>, body: string): Promise<Answer> {
      const start = performance.now();
      const answered = await Promise.resolve()
        .then(() => exchange(url, headers, body))
        .then(
          (status) => ({ status, error: status >= 200 && status < 300 ? null : `answered ${status}` }),
          (error: NodeJS.ErrnoException) => ({ status: null, error: errorOf(error) }),
        );
      return { ...answered, durationMs: Math.round(performance.now() - start) };
    },

    /** Cuts off what is under way. */
    abort(): void {
      for (const sent of underWay) sent.destroy();
    },
  };
}
export type Requests = ReturnType<typeof createRequests>;
