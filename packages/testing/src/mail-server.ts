import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** How long `next` waits before it fails with what came instead, in milliseconds. */
const PATIENCE_MS = 15_000;

/** A received mail. */
export interface ReceivedMail {
  to: string;
  from: string;
  subject: string;
  text: string;
  html: string;
  messageId: string;
  /** The first URL in the text, and its `token`. */
  link?: string;
  token?: string;
  /** Six digits on a line of their own. */
  code?: string;
}

/** A mail server for tests, on loopback. It records mails, and misbehaves on request. */
export interface MailServer extends AsyncDisposable {
  /** For `MAIL_URL`. */
  url: string;
  /** All mails so far. */
  mails: readonly ReceivedMail[];
  /**
   * The next mail to this address that no earlier call has returned; waits for it.
   * @throws Error after 15 s, with what came instead
   */
  next(to: string, match?: (mail: ReceivedMail) => boolean): Promise<ReceivedMail>;
  /** Number of mails to this address so far; after `mails.work()` none are in transit. */
  count(to: string): number;
  /** Refuses every recipient with this SMTP code, until called with `false`. */
  refuse(code: number | false): void;
  /** Stops answering, until called with `false`; then continues. */
  stall(on: boolean): void;
  /** Takes this long for each later mail, in milliseconds. */
  slowDown(milliseconds: number): void;
  /** Waits until a client waits for the stalled server. */
  whenHeld(): Promise<void>;
  /** Cuts every connection, until called with `false`. */
  goAway(on: boolean): void;
  close(): Promise<void>;
}

async function parse(raw: string): Promise<ReceivedMail> {
  const { to, from, subject = '', text = '', html = '', messageId = '' } = await PostalMime.parse(raw);
  const link = /https?:\/\/\S+/.exec(text)?.[0];
  const token = link === undefined ? null : new URL(link).searchParams.get('token');
  const code = /^\d{6}$/m.exec(text)?.[0];
  return {
    to: to?.[0]?.address ?? '',
    from: from?.name ? `${from.name} <${from.address ?? ''}>` : (from?.address ?? ''),
    subject,
    text: text.trimEnd(),
    html,
    messageId,
    ...(link !== undefined && { link }),
    ...(token !== null && { token }),
    ...(code !== undefined && { code }),
  };
}

interface Waiter {
  fits(mail: ReceivedMail): boolean;
  take(mail: ReceivedMail): void;
}

/** A promise that is resolved from outside. */
function openPromise() {
  let keep = (): void => {};
  const promise = new Promise<void>((resolve) => {
    keep = resolve;
  });
  return { promise, keep };
}

/** Starts a mail server on a free port of loopback. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const taken = new Set<ReceivedMail>();
  const waiters = new Set<Waiter>();
  const sockets = new Set<Socket>();
  let refusal: number | false = false;
  let isAway = false;
  let slowness = 0;
  let gate: ReturnType<typeof openPromise> | undefined;
  let held = openPromise();

  /** Blocks clients while the server is stalled. */
  async function pass(): Promise<void> {
    if (gate) held.keep();
    await gate?.promise;
  }

  function arrive(mail: ReceivedMail): void {
    mails.push(mail);
    for (const waiter of waiters) {
      if (!waiter.fits(mail)) continue;
      waiters.delete(waiter);
      taken.add(mail);
      return waiter.take(mail);
    }
  }

  async function greet(done: () => void): Promise<void> {
    await pass();
    done();
  }

  async function receive(stream: Readable, done: (error?: Error) => void): Promise<void> {
    try {
      const raw = await readText(stream);
      await pass();
      await delay(slowness);
      arrive(await parse(raw));
    } catch (error) {
      return done(error as Error);
    }
    done();
  }

  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 1,
    onConnect: (_session, done) => void greet(done),
    onRcptTo({ address }, _session, done) {
      if (refusal === false) return done();
      // like real servers, it names the refused address
      done(Object.assign(new Error(`<${address}>: recipient refused`), { responseCode: refusal }));
    },
    onData: (stream, _session, done) => void receive(stream, done),
  });
  // a client that hangs up is not an error
  server.on('error', () => {});
  server.server.prependListener('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (isAway) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;

  function next(to: string, match: (mail: ReceivedMail) => boolean = () => true): Promise<ReceivedMail> {
    const fits = (mail: ReceivedMail) => !taken.has(mail) && mail.to === to.toLowerCase() && match(mail);
    const waiting = mails.find(fits);
    if (waiting) {
      taken.add(waiting);
      return Promise.resolve(waiting);
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiters.delete(waiter);
        const others = mails.map((mail) => `${mail.to}: ${mail.subject}${taken.has(mail) ? ' (taken)' : ''}`);
        reject(new Error(`no mail to ${to} came; what came: ${others.join(', ') || 'nothing'}`));
      }, PATIENCE_MS);
      const waiter: Waiter = {
        fits,
        take(mail) {
          clearTimeout(timer);
          resolve(mail);
        },
      };
      waiters.add(waiter);
    });
  }

  function stall(on: boolean): void {
    if (on === (gate !== undefined)) return;
    if (on) held = openPromise();
    else gate?.keep();
    gate = on ? openPromise() : undefined;
  }

  async function close(): Promise<void> {
    stall(false);
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    next,
    count: (to) => mails.filter((mail) => mail.to === to.toLowerCase()).length,
    refuse(code) {
      refusal = code;
    },
    stall,
    slowDown(milliseconds) {
      slowness = milliseconds;
    },
    whenHeld: () => held.promise,
    goAway(on) {
      isAway = on;
      if (on) for (const socket of sockets) socket.destroy();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
