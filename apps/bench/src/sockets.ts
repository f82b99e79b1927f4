import { WebSocket } from 'ws';

/** Opens a WebSocket. @throws Error when it is refused */
export function openSocket(url: string, path: string, accessToken?: string): Promise<WebSocket> {
  const headers = accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` };
  const socket = new WebSocket(url.replace(/^http/, 'ws') + path, { headers, perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Opens many, some concurrently. */
export async function openSockets(count: number, open: (turn: number) => Promise<WebSocket>): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const turns = Array.from({ length: Math.min(50, count - sockets.length) }, (_, turn) => sockets.length + turn);
    sockets.push(...(await Promise.all(turns.map(open))));
  }
  return sockets;
}

/** Waits until each of these has received a text that contains `mark`. */
export function allTold(sockets: readonly WebSocket[], mark: string): Promise<void> {
  let left = sockets.length;
  return new Promise((resolve) => {
    for (const socket of sockets) {
      const take = (text: Buffer) => {
        if (!text.includes(mark)) return;
        socket.off('message', take);
        left -= 1;
        if (left === 0) resolve();
      };
      socket.on('message', take);
    }
  });
}
