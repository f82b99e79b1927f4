import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const TYPE_A = 1;

/** A name server on loopback that knows IPv4 addresses alone. */
export interface DnsServer extends AsyncDisposable {
  /** For `dnsServers`. */
  address: string;
  /** What is answered for each question of a name's IPv4 addresses, by turns; the last one for all that follow. */
  answers: Map<string, string[][]>;
  /** How often each name's IPv4 addresses were asked for. */
  asked: Map<string, number>;
}

export async function startDnsServer(): Promise<DnsServer> {
  const answers = new Map<string, string[][]>();
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let at = HEADER_BYTES;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const type = query.readUInt16BE(at + 1);
    const question = query.subarray(HEADER_BYTES, at + 5);
    const turns = answers.get(name) ?? [];
    const found = type === TYPE_A ? ((turns.length > 1 ? turns.shift() : turns[0]) ?? []) : [];
    if (type === TYPE_A) asked.set(name, (asked.get(name) ?? 0) + 1);
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    // a response, recursion available; NXDOMAIN for names that are unknown
    header.writeUInt16BE(answers.has(name) ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(found.length, 6);
    const records = found.map((ip) =>
      // a pointer to the question's name, type A, class IN, no time to live, four bytes
      Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([header, question, ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    answers,
    asked,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}
