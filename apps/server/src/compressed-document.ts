import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { RequestHandler } from 'express';
import { encodingFor, type Encoding } from './encodings.js';

const brotli = promisify(brotliCompress);
/** The best quality takes fifty times as long for a tenth of the size, while the first visitor waits. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 7 } };
const COMPRESS: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) => brotli(body, QUALITY),
  gzip: promisify(gzip),
};

/** A body, and the strong tag that stands for its bytes. */
interface Made {
  body: Buffer;
  tag: string;
}

/**
 * Answers a JSON document that never changes: compressed as the client accepts, or 304 if the client has it.
 * @param make is called by the first request, because making a document takes as long as starting the server
 */
export function createDocumentRoute(make: () => object | Promise<object>): RequestHandler {
  const made = new Map<Encoding | 'identity', Promise<Made>>();

  async function madeAs(encoding: Encoding | 'identity'): Promise<Made> {
    const body =
      encoding === 'identity'
        ? Buffer.from(JSON.stringify(await make()))
        : await COMPRESS[encoding]((await onceAs('identity')).body);
    return { body, tag: createHash('sha256').update(body).digest('base64url').slice(0, 22) };
  }

  /** Made once for all who ask meanwhile; the request after a failure tries again. */
  function onceAs(encoding: Encoding | 'identity'): Promise<Made> {
    const known = made.get(encoding);
    if (known) return known;
    const making = madeAs(encoding);
    made.set(encoding, making);
    making.catch(() => made.delete(encoding));
    return making;
  }

  return async (req, res) => {
    const encoding = encodingFor(req);
    const { body, tag } = await onceAs(encoding ?? 'identity');
    res.set({ 'cache-control': 'no-cache', etag: `"${tag}"` }).vary('Accept-Encoding');
    if (encoding) res.set('content-encoding', encoding);
    res.type('json').send(body);
  };
}
