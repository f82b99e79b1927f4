import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { RequestHandler } from 'express';

const ENCODINGS = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const;
type Encoding = keyof typeof ENCODINGS;

/**
 * Answers a JSON document that never changes: compressed as the client accepts, or 304 if the client has it.
 * @param make is called on the first request, because making a document takes as long as starting the server
 */
export function createDocumentRoute(make: () => object): RequestHandler {
  let plain: { body: Buffer; tag: string } | undefined;
  const compressed = new Map<Encoding, Buffer>();

  return async (req, res) => {
    if (!plain) {
      const body = Buffer.from(JSON.stringify(make()));
      plain = { body, tag: createHash('sha256').update(body).digest('base64url').slice(0, 22) };
    }
    const { body, tag } = plain;
    const accepted = req.acceptsEncodings('br', 'gzip');
    const encoding = accepted === 'br' || accepted === 'gzip' ? accepted : undefined;
    // of each encoding, since a strong tag stands for bytes
    res.set({ 'cache-control': 'no-cache', vary: 'Accept-Encoding', etag: `"${tag}${encoding ? `-${encoding}` : ''}"` });
    res.type('json');
    if (encoding) {
      // kept once made, so that the request after a failure tries again
      const content = compressed.get(encoding) ?? (await ENCODINGS[encoding](body));
      compressed.set(encoding, content);
      res.set('content-encoding', encoding).send(content);
    } else res.send(body);
  };
}
