import { once } from 'node:events';
import net from 'node:net';

/** One request of a load. */
export interface LoadRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: object;
}

/** A keep-alive connection to a server, for one request at a time. */
export interface Connection {
  /**
   * @returns the answer's body as text; @throws Error for another status than expected, and when the connection has
   * ended
   */
  send(request: LoadRequest, expected: number): Promise<string>;
  close(): void;
}

interface Answer {
  status: number;
  text: string;
}

const HEAD_END = '\r\n\r\n';

const NO_CONTENT = 204;

/** Parses an answer once it is complete. The measured servers state its length; NaN for one that does not. */
function readAnswer(received: string): Answer | undefined {
  const headLength = received.indexOf(HEAD_END);
  if (headLength < 0) return undefined;
  const head = received.slice(0, headLength);
  const said = Number(head.split(' ', 2)[1]);
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? (said === NO_CONTENT ? 0 : Number.NaN));
  const body = received.slice(headLength + HEAD_END.length);
  if (body.length < length) return undefined;
  return { status: Number.isNaN(length) ? Number.NaN : said, text: Buffer.from(body, 'latin1').toString() };
}

/**
 * Opens a connection. Written by hand, because the client shares its cores with the server that it measures, and no
 * library is light enough: Node's own and undici's cost more than twice as much for occasional requests, such as
 * logins.
 */
export async function connect(url: string): Promise<Connection> {
  const { hostname, port, host } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  let received = '';
  let waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  // one character per byte, so that string lengths are byte lengths
  socket.setEncoding('latin1').on('data', (bytes: string) => {
    received += bytes;
    const answer = readAnswer(received);
    if (!answer) return;
    received = '';
    waiting?.resolve(answer);
    waiting = undefined;
  });
  socket.on('error', (error) => waiting?.reject(error));
  socket.on('close', () => waiting?.reject(new Error(`${host} closed the connection before it answered`)));

  return {
    async send({ method, path, headers, body }, expected) {
      const text = body && JSON.stringify(body);
      const length = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const fields = Object.entries({ host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
      if (!socket.writable) throw new Error(`${method} ${path}: the connection to ${host} has ended`);
      const answer = new Promise<Answer>((resolve, reject) => (waiting = { resolve, reject }));
      socket.write(`${method} ${path} HTTP/1.1\r\n${fields.join('')}\r\n${text ?? ''}`);
      const { status, text: answered } = await answer;
      if (status !== expected) throw new Error(`${method} ${path}: ${status} ${answered.slice(0, 300)}`);
      return answered;
    },
    close: () => void socket.destroy(),
  };
}

/** Opens a connection for each item, lets all use theirs concurrently, and always closes them. */
export async function eachConnected<Item>(
  url: string,
  items: readonly Item[],
  use: (connection: Connection, item: Item, at: number) => Promise<void>,
): Promise<void> {
  const connections = await Promise.all(items.map(() => connect(url)));
  try {
    await Promise.all(connections.map((connection, at) => use(connection, items[at] as Item, at)));
  } finally {
    for (const connection of connections) connection.close();
  }
}
