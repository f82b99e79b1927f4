import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { fixture, openStream, startServerProcess, startTestServer, type ServerProcess } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { createDrain } from './drain.js';

const PATIENCE = { timeout: 120_000 };

const home = fixture(startTestServer);

const start = (SHUTDOWN_DELAY: string): Promise<ServerProcess> =>
  startServerProcess({ MONGODB_URI: home.mongodbUri, MAIL_URL: home.mail.url, SHUTDOWN_DELAY });

/** A raw connection. */
interface Wire {
  send(text: string): void;
  /** Waits until this many answers have begun to arrive. */
  answers(count: number): Promise<string>;
  /** Everything received when the connection has ended; a reset rejects. */
  ended: Promise<string>;
}
async function connect(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  let failure: Error | undefined;
  socket.on('error', (error) => (failure = error));
  await once(socket, 'connect');
  const whole = ended.then((all) => {
    if (failure) throw failure;
    return all;
  });
  // tests that do not check the end must not fail by it
  whole.catch(() => {});
  return {
    send: (bytes) => void socket.write(bytes),
    async answers(count) {
      while (text.split('HTTP/1.1 ').length - 1 < count) await once(socket, 'data');
      return text;
    },
    ended: whole,
  };
}
const GET = (path = '/health/live') => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
const closings = (text: string) => text.match(/connection: close/gi)?.length ?? 0;

describe('a server that is told to stop', PATIENCE, () => {
  it.each(['0s', '1s'])('with a delay of %s answers every request sent before', async (delay) => {
    const server = await start(delay);
    const kept = await Promise.all(Array.from({ length: 25 }, () => connect(server.url)));
    for (const wire of kept) wire.send(GET());
    await Promise.all(kept.map((wire) => wire.answers(1)));
    // paused, so that connections, requests and the signal are all pending when it continues
    void server.kill('SIGSTOP');
    const fresh = await Promise.all(Array.from({ length: 25 }, () => connect(server.url)));
    for (const wire of [...fresh, ...kept]) wire.send(GET('/docs'));
    void server.kill('SIGTERM');
    await server.kill('SIGCONT');
    for (const wire of fresh) expect(statuses(await wire.ended)).toEqual([200]);
    for (const wire of kept) expect(statuses(await wire.ended)).toEqual([200, 200]);
  });

  it('is not ready at once, still accepts connections, and closes each with its answer', async () => {
    const server = await start('60s');
    const wire = await connect(server.url);
    wire.send(GET('/health/ready'));
    expect(statuses(await wire.answers(1))).toEqual([200]);
    const silent = await connect(server.url);
    const stopped = server.kill('SIGTERM');
    await server.logged('stopping');
    wire.send(GET('/health/ready'));
    const text = await wire.ended;
    expect(statuses(text)).toEqual([200, 503]);
    expect(closings(text)).toBe(1);
    const late = await connect(server.url);
    late.send(GET());
    expect([statuses(await late.ended), closings(await late.ended)]).toEqual([[200], 1]);
    // a second signal ends it at once
    await server.kill('SIGTERM');
    await stopped;
    await silent.ended.catch(() => {});
    await expect(connect(server.url)).rejects.toThrow('ECONNREFUSED');
    expect(server.lines.filter((line) => line['status'] === 503)).toMatchObject([{ level: 30, msg: 'request refused' }]);
  });

  it('answers all pipelined requests of a connection, and waits for a slow body', async () => {
    const server = await start('1s');
    const ann = await home.signUp();
    const [pipelined, slow] = [await connect(server.url), await connect(server.url)];
    const head = `host: x\r\nauthorization: Bearer ${ann.accessToken}\r\n`;
    const own = `GET /identities/${ann.id} HTTP/1.1\r\n${head}\r\n`;
    pipelined.send(own + GET('/health/live') + own);
    const body = JSON.stringify({ refreshToken: ann.refreshToken });
    slow.send(
      `POST /auth/token/refresh HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    );
    const stream = await openStream(server.url, '/notifications/listen', ann.credentials);
    await stream.next('ready');
    const stopped = server.kill('SIGTERM');
    await server.logged('stopping');
    expect(await stream.closed).toMatchObject({ code: 1012 });
    slow.send(body.slice(9));
    expect([statuses(await slow.ended), closings(await slow.ended)]).toEqual([[200], 1]);
    const text = await pipelined.ended;
    expect(statuses(text)).toEqual([200, 200, 200]);
    expect(closings(text)).toBeLessThanOrEqual(1);
    await stopped;
  });
});

it('of several requests on one connection, the last answer closes it', async () => {
  const app = await startTestServer();
  const ann = await app.signUp();
  const wire = await connect(app.url);
  const own = `GET /identities/${ann.id} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ann.accessToken}\r\n\r\n`;
  wire.send(own);
  await wire.answers(1);
  // more may not be pending on one connection
  wire.send(own.repeat(4));
  // both on loopback: once this is answered, the earlier request has been read
  await fetch(`${app.url}/health/live`);
  await app.close();
  expect(statuses(await wire.ended)).toEqual([200, 200, 200, 200, 200]);
});

it('idle connections, used before or not, do not hold up the end', async () => {
  const app = await startTestServer();
  const silent = await connect(app.url);
  const answered = await connect(app.url);
  answered.send(GET());
  await answered.answers(1);
  const started = performance.now();
  const closed = app.close();
  await Promise.all([silent.ended, answered.ended]);
  // Node itself would wait 5 s for another request, and for ever for the first
  expect(performance.now() - started).toBeLessThan(4500);
  await closed;
});

describe('the end of a server', () => {
  /** A server that answers nothing by itself, and a request to it. */
  async function startSilent(limitMs: number) {
    const server = http.createServer({ keepAliveTimeout: 0 });
    const drain = createDrain(server, { delayMs: 0, limitMs });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const wire = await connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    wire.send(GET());
    const [, answer] = (await once(server, 'request')) as [unknown, http.ServerResponse];
    return { drain, wire, answer };
  }

  it('answers 503 to unanswered requests when its time is over', async () => {
    const { drain, wire } = await startSilent(100);
    await drain.delay();
    await drain.end();
    expect(statuses(await wire.ended)).toEqual([503]);
  });

  it('comes with the last answer, also where that had begun before', async () => {
    const { drain, wire, answer } = await startSilent(600_000);
    answer.writeHead(200).write('x');
    await drain.delay();
    const ended = drain.end();
    answer.end();
    await ended;
    expect(statuses(await wire.ended)).toEqual([200]);
  });
});

it('a slow head is cut off when its time is over, with 408', async () => {
  await using app = await startTestServer({ arrivalMs: 300 });
  const wire = await connect(app.url);
  const started = performance.now();
  wire.send('GET /health/live HTTP/1.1\r\nx-slow: ');
  const text = await wire.ended;
  expect(statuses(text)).toEqual([408]);
  expect(text).toContain('{"error":{"message":"Request Timeout"}}');
  // Node itself checks twice a minute
  expect(performance.now() - started).toBeLessThan(15_000);
});

it('a server with default settings answers 408 to a head that takes longer than 15 s, and to a slow body', async () => {
  await using server = await start('0s');
  const [head, body] = [await connect(server.url), await connect(server.url)];
  const started = performance.now();
  head.send('GET /health/live HTTP/1.1\r\nx-slow: ');
  body.send('POST /auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{');
  for (const wire of [head, body]) expect(statuses(await wire.ended)).toEqual([408]);
  // Node itself would check heads half a minute later
  expect(Math.round((performance.now() - started) / 10_000)).toBe(2);
});
