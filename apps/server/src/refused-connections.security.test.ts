import net from 'node:net';
import { once } from 'node:events';
import { PATIENCE, fixture, startTestServer } from '@tandem/testing';
import { afterEach, expect, it, vi } from 'vitest';

const app = fixture(() => startTestServer({ arrivalMs: 200 }));
afterEach(() => vi.useRealTimers());

const head = (path: string, ...more: string[]) => [`GET ${path} HTTP/1.1`, 'host: x', ...more, '', ''].join('\r\n');
const upgrade = ['connection: Upgrade', 'upgrade: websocket'];

it.each([
  ['that was refused a stream', head('/nowhere', ...upgrade), 404],
  ['whose head came too slowly', 'GET /health/live HTTP/1.1\r\nx-slow: ', 408],
  ['whose body came too slowly', head('/auth/login', 'content-type: application/json', 'content-length: 99999').replace('GET', 'POST'), 408], // prettier-ignore
])('a connection %s is closed five seconds after its answer, even if its client keeps it open', async (_, sent, status) => {
  // faked timers: of the code that answers here, only the limit for slow bodies uses them
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { hostname, port } = new URL(app.url);
  const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let answer = '';
  let isClosed = false;
  socket.on('data', (chunk) => (answer += chunk.toString()));
  socket.on('error', () => undefined).on('close', () => (isClosed = true));
  const ended = once(socket, 'end');
  socket.write(sent);
  await vi.waitUntil(() => socket.bytesWritten > 0 && !socket.connecting);
  const advancing = setInterval(() => void (answer === '' && vi.advanceTimersByTime(50)), 20);
  await ended;
  clearInterval(advancing);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  const code = { 404: 'request.noSuchRoute', 408: 'request.tooSlow' }[status];
  expect(/^x-error-code: (\S+)/im.exec(answer)?.[1]).toBe(code);
  // Node's FIN has been sent; this write is accepted, and read by nobody
  socket.write('x');
  expect(isClosed).toBe(false);
  vi.advanceTimersByTime(5000);
  vi.useRealTimers();
  await vi.waitUntil(() => {
    if (!isClosed) socket.write('x');
    return isClosed;
  }, PATIENCE);
});
