import http from 'node:http';

/** A raw request: what `fetch` would not send, such as a repeated header. */
export interface RawRequest {
  method?: string;
  /** Path and query exactly as sent; default those of the URL. */
  path?: string;
  /** Alternating names and values. A body without a content type is JSON. */
  headers: readonly string[];
  body?: string;
  /** Reuses connections; by default each request has its own. */
  agent?: http.Agent;
}
export interface RawAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** Parsed JSON; undefined when there is none. */
  body: unknown;
}

/** Sends one request with exactly these headers. */
export function sendRaw(url: string, { method = 'GET', path, headers, body = '', agent }: RawRequest): Promise<RawAnswer> {
  const { host, pathname, search } = new URL(url);
  const isTyped = headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'content-type');
  const type = body === '' || isTyped ? [] : ['content-type', 'application/json'];
  const length = body === '' ? [] : [...type, 'content-length', String(Buffer.byteLength(body))];
  const options = { method, path: path ?? pathname + search, agent: agent ?? false };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { ...options, headers: ['host', host, ...length, ...headers] }, (answer) => {
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
