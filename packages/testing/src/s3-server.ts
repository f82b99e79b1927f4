import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const ACCESS_KEY = 'TESTACCESSKEY';
const SECRET_KEY = 'a secret key of the tests/with+signs';
const REGION = 'eu-central-1';
const BUCKET = 'tandem-files';

export interface S3Object {
  type: string;
  body: Buffer;
  /** Named by who uploaded it: as S3 does, this takes any header that a signature may leave out. */
  encoding?: string | undefined;
  /** Whether it is in an archive class: its body cannot be read. */
  isArchived?: boolean;
}

/** A storage with the part of the S3 protocol that files need; it verifies signatures by computing them itself. */
export interface S3Server extends AsyncDisposable {
  /** For `FILES_URL`. */
  url: string;
  /** What is stored, by key. */
  objects: Map<string, S3Object>;
  /** The keys whose bodies were asked for. */
  reads: readonly string[];
  /** Answers 503 to everything, or stops doing so. */
  fail(isFailing: boolean): void;
  /** Runs `act` before each later copy: simulates concurrent changes. */
  onCopy(act: () => Promise<void>): void;
  close(): Promise<void>;
}

interface Signature {
  headers: string[];
  signature: string;
  scope: string;
  date: string;
  /** Of a signed URL; undefined where the signature is in a header, which also signs a hash of the body. */
  expires: number | undefined;
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const encode = (text: string) => encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`); // prettier-ignore

/** The parts of a version 4 signature, in the query or in a header (AWS, "Signature Version 4 signing process"). */
function readSignature(req: IncomingMessage, query: URLSearchParams): Signature | undefined {
  if (query.has('X-Amz-Signature')) {
    return {
      headers: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
      signature: query.get('X-Amz-Signature') ?? '',
      scope: query.get('X-Amz-Credential') ?? '',
      date: query.get('X-Amz-Date') ?? '',
      expires: Number(query.get('X-Amz-Expires')),
    };
  }
  const parts = /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
    req.headers.authorization ?? '',
  );
  if (!parts) return undefined;
  const [, scope = '', headers = '', signature = ''] = parts;
  return { headers: headers.split(';'), signature, scope, date: String(req.headers['x-amz-date']), expires: undefined };
}

/**
 * Whether our key signed a request, over its method, path, query and named headers. Written from the specification
 * alone.
 */
function isSigned(req: IncomingMessage, url: URL, now: Date): boolean {
  const given = readSignature(req, url.searchParams);
  const [key, day, region, service, end] = (given?.scope ?? '').split('/');
  if (!given || key !== ACCESS_KEY || region !== REGION || service !== 's3' || end !== 'aws4_request') return false;
  if (!given.headers.includes('host')) return false;
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const headers = given.headers.map((name) => `${name}:${String(req.headers[name] ?? '').trim()}\n`).join('');
  const content = given.expires === undefined ? String(req.headers['x-amz-content-sha256']) : 'UNSIGNED-PAYLOAD';
  const canonical = [req.method, url.pathname, query, headers, given.headers.join(';'), content].join('\n');
  const scope = [day, region, service, end].join('/');
  const hash = createHash('sha256').update(canonical).digest('hex');
  const signingKey = [region, service, end].reduce<Buffer>((secret, part) => hmac(secret, part), hmac(`AWS4${SECRET_KEY}`, day as string)); // prettier-ignore
  const expected = hmac(signingKey, ['AWS4-HMAC-SHA256', given.date, scope, hash].join('\n'));
  const actual = Buffer.from(given.signature, 'hex');
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return false;
  const [, ...numbers] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(given.date) ?? [];
  const [year, month, date, hour, minute, second] = numbers.map(Number) as [number, number, number, number, number, number];
  const made = Date.UTC(year, month - 1, date, hour, minute, second);
  const age = now.getTime() - made;
  return given.expires === undefined ? true : age >= -60_000 && age <= given.expires * 1000;
}

async function readBody(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** S3's ETag of an object uploaded in one part. */
const etagOf = (body: Buffer) => `"${createHash('md5').update(body).digest('hex')}"`;

/** Starts one on loopback. @param now the time by which URLs expire */
export async function startS3Server(now: () => Date = () => new Date()): Promise<S3Server> {
  const objects = new Map<string, S3Object>();
  const reads: string[] = [];
  let isFailing = false;
  let beforeCopy = async (): Promise<void> => {};

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://localhost');
    const body = await readBody(req);
    if (isFailing) return void res.writeHead(503).end();
    if (!isSigned(req, url, now())) return void res.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
    const [, bucket, ...rest] = url.pathname.split('/');
    const key = rest.join('/');
    if (bucket !== BUCKET) return void res.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>');
    const copySource = req.headers['x-amz-copy-source'];
    if (req.method === 'PUT' && copySource !== undefined) {
      await beforeCopy();
      const source = objects.get(decodeURIComponent(String(copySource)).replace(`${BUCKET}/`, ''));
      if (!source) return void res.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
      if (req.headers['x-amz-copy-source-if-match'] !== etagOf(source.body))
        return void res.writeHead(412).end('<Error><Code>PreconditionFailed</Code></Error>');
      const isReplacing = req.headers['x-amz-metadata-directive'] === 'REPLACE';
      objects.set(key, isReplacing ? { type: req.headers['content-type'] ?? '', body: source.body } : source);
      return void res.writeHead(200).end(`<CopyObjectResult><ETag>${etagOf(source.body)}</ETag></CopyObjectResult>`);
    }
    if (req.method === 'PUT') {
      objects.set(key, { type: req.headers['content-type'] ?? '', body, encoding: req.headers['content-encoding'] });
      return void res.writeHead(200, { etag: etagOf(body) }).end();
    }
    if (req.method === 'DELETE') {
      objects.delete(key);
      return void res.writeHead(204).end();
    }
    const found: S3Object | undefined = key === '' ? { type: 'application/xml', body: Buffer.alloc(0) } : objects.get(key);
    if (!found) return void res.writeHead(404).end(req.method === 'HEAD' ? undefined : '<Error><Code>NoSuchKey</Code></Error>');
    if (req.method === 'GET') reads.push(key);
    if (req.method === 'GET' && found.isArchived)
      return void res.writeHead(403).end('<Error><Code>InvalidObjectState</Code></Error>');
    const disposition = url.searchParams.get('response-content-disposition');
    res.writeHead(200, {
      'content-type': url.searchParams.get('response-content-type') ?? found.type,
      'content-length': found.body.length,
      etag: etagOf(found.body),
      ...(found.encoding !== undefined && { 'content-encoding': found.encoding }),
      ...(disposition !== null && { 'content-disposition': disposition }),
    });
    res.end(req.method === 'HEAD' ? undefined : found.body);
  }

  const server = http.createServer((req, res) => {
    answer(req, res).catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `s3://${ACCESS_KEY}:${encodeURIComponent(SECRET_KEY)}@${BUCKET}/uploads?endpoint=${encodeURIComponent(endpoint)}&region=${REGION}`,
    objects,
    reads,
    fail(failing) {
      isFailing = failing;
    },
    onCopy(act) {
      beforeCopy = act;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
