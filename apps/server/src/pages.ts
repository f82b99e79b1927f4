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
 * Sends a file, compressed as the client accepts, or 304 if the client has it. It is always sent whole: a range or a
 * condition that fails would leave an error in caches.
 */
async function sendCompressed(file: string, res: Response): Promise<void> {
  const encoding = encodingFor(res.req);
  const compressed = encoding && file + ENDINGS[encoding];
  const isCompressed = compressed !== undefined && existsSync(compressed);
  const content = await readFile(isCompressed ? compressed : file);
  const tag = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  if (isCompressed) res.set('content-encoding', encoding);
  res.set('etag', `"${tag}"`).vary('Accept-Encoding').type(path.extname(file)).send(content);
}

/** Sends a page. Its name does not tell versions apart, so browsers ask each time. */
export async function sendPage(name: string, res: Response, { filesFrom = '', imagesFrom = '' } = {}): Promise<void> {
  res.set({ 'cache-control': 'no-cache', 'content-security-policy': contentSecurityPolicy(filesFrom, imagesFrom) });
  await sendCompressed(path.join(FOLDER ?? '', name), res);
}

/** Serves the pages' files at `/assets`, compressed as the client accepts. */
export function createAssets(): Router {
  const assets = Router();
  if (ASSETS === undefined) return assets;
  assets.get('/assets/:file', async ({ params: { file } }, res, next) => {
    // no path, and none of the compressed ones
    if (!/^[\w-]+\.(js|css|svg|woff2)$/.test(file) || !existsSync(path.join(ASSETS, file))) return next();
    res.set('cache-control', 'public, max-age=31536000, immutable');
    await sendCompressed(path.join(ASSETS, file), res);
  });
  return assets;
}
