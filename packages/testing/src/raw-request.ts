import http from 'node:http';

/** A request as it goes over the wire: what `fetch` would not send, such as a header twice. */
export interface RawRequest {
  method?: string;
  /** Names and values in turn. */
  headers: readonly string[];
  body?: string;
}
export interface RawAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** Parsed JSON; undefined when there is none. */
  body: unknown;
}

/** Sends one request with exactly these headers. */
export function sendRaw(url: string, { method = 'GET', headers, body = '' }: RawRequest): Promise<RawAnswer> {
  const { host } = new URL(url);
  const length = body === '' ? [] : ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body))];
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, agent: false, headers: ['host', host, ...length, ...headers] }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject).on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: text === '' ? undefined : (JSON.parse(text) as unknown),
        });
      });
    });
    request.on('error', reject).end(body);
  });
}
