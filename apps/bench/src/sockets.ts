import { once } from 'node:events';
import { WebSocket } from 'ws';

function connect(url: string, path: string, accessToken?: string): WebSocket {
  const headers = accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` };
  return new WebSocket(url.replace(/^http/, 'ws') + path, { headers, perMessageDeflate: false });
}

/** Opens a WebSocket. @throws Error when it is refused */
export async function openSocket(url: string, path: string, accessToken?: string): Promise<WebSocket> {
  const socket = connect(url, path, accessToken);
  await once(socket, 'open');
  return socket;
}

/** Opens a stream of a channel, and waits until it is told what is posted. @throws Error when it is refused */
export async function openReader(url: string, channelId: string, accessToken?: string): Promise<WebSocket> {
  const socket = connect(url, `/messages/listen?channelId=${channelId}`, accessToken);
  const isSubscribed = allTold([socket], '"subscribed"');
  await once(socket, 'open');
  await isSubscribed;
  return socket;
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
