import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Router, type Response } from 'express';
import { encodingFor, type Encoding } from './encodings.js';

/**
 * The built web pages, and below `assets` their files, named by content hash. Installed as a package, the server has
 * them in a folder of its own; in the repository they are where they were built.
 */
const FOLDER = ['../console', '../../console/dist']
  .map((place) => fileURLToPath(new URL(place, import.meta.url)))
  .find((folder) => existsSync(path.join(folder, 'index.html')));

/** Where the pages' files are; undefined if the pages were not built. */
export const ASSETS = FOLDER && path.join(FOLDER, 'assets');

/**
 * The content security policy of a page: it may load its own assets, call its own server, and send files to where these
 * are stored. No text becomes code or markup.
 * @param filesFrom where files are stored
 * @param imagesFrom where other images are
 */
function contentSecurityPolicy(filesFrom: string, imagesFrom: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ['img-src', "'self'", filesFrom, imagesFrom].filter(Boolean).join(' '),
    `connect-src 'self' ${filesFrom}`.trim(),
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join(';');
}

/** What the build leaves beside each asset. */
const ENDINGS: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' };

/**
 * Sends a page, compressed as the client accepts, or 304 if the client has it. Its name does not tell versions apart, so
 * its tag is made of its content.
 */
export async function sendPage(name: string, res: Response, { filesFrom = '', imagesFrom = '' } = {}): Promise<void> {
  const encoding = encodingFor(res.req);
  const file = path.join(FOLDER ?? '', name);
  const compressed = encoding && file + ENDINGS[encoding];
  const isSent = compressed !== undefined && existsSync(compressed);
  const content = await readFile(isSent ? compressed : file);
  const tag = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  res.set({ 'cache-control': 'no-cache', etag: `"${tag}"` }).vary('Accept-Encoding');
  res.set('content-security-policy', contentSecurityPolicy(filesFrom, imagesFrom));
  if (isSent) res.set('content-encoding', encoding);
  res.type('html').send(content);
}

/** Serves the pages' files at `/assets`, compressed as the client accepts. */
export function createAssets(): Router {
  const assets = Router();
  if (ASSETS === undefined) return assets;
  assets.get('/assets/:file', (req, res, next) => {
    const { file } = req.params;
    // no path, and none of the compressed ones
    if (!/^[\w-]+\.(js|css|svg|woff2)$/.test(file) || !existsSync(path.join(ASSETS, file))) return next();
    const encoding = encodingFor(req);
    const compressed = encoding && file + ENDINGS[encoding];
    const sent = compressed !== undefined && existsSync(path.join(ASSETS, compressed)) ? compressed : file;
    res.set('cache-control', 'public, max-age=31536000, immutable').vary('Accept-Encoding');
    res.set('etag', `"${sent}"`).type(path.extname(file));
    if (sent === compressed) res.set('content-encoding', encoding);
    res.sendFile(sent, { root: ASSETS, cacheControl: false, lastModified: false });
  });
  return assets;
}
