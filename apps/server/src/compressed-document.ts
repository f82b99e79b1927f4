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

/**
 * Answers a JSON document that never changes: compressed as the client accepts, or 304 if the client has it.
 * @param make is called on the first request, because making a document takes as long as starting the server
 */
export function createDocumentRoute(make: () => object | Promise<object>): RequestHandler {
  let plain: { body: Buffer; tag: string } | undefined;
  const compressed = new Map<Encoding, Buffer>();

  return async (req, res) => {
    if (!plain) {
      const body = Buffer.from(JSON.stringify(await make()));
      plain = { body, tag: createHash('sha256').update(body).digest('base64url').slice(0, 22) };
    }
    const { body, tag } = plain;
    const encoding = encodingFor(req);
    // of each encoding, since a strong tag stands for bytes
    res.set({ 'cache-control': 'no-cache', vary: 'Accept-Encoding', etag: `"${tag}${encoding ? `-${encoding}` : ''}"` });
    res.type('json');
    if (encoding) {
      // kept once made, so that the request after a failure tries again
      const content = compressed.get(encoding) ?? (await COMPRESS[encoding](body));
      compressed.set(encoding, content);
      res.set('content-encoding', encoding).send(content);
    } else res.send(body);
  };
}
