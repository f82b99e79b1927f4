import { requestErrors } from '@tandem/core';
import type { LocalFiles } from '@tandem/drivers/files';
import { Router, type NextFunction, type Request, type Response } from 'express';
import { fileAddressErrors as errors } from './files.errors.js';
import type { Uploads } from './uploads.js';

/** How long browsers may cache a download, in seconds. An object never changes, but its address expires soon after. */
const KEPT_S = 600;

/** Error codes of a full disk or an exceeded disk quota, and the `Retry-After` in seconds. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
const RETRY_AFTER_FULL_S = 60;

/** Headers that keep a browser from guessing another type, and from running anything in the file. */
const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  // other origins' front ends embed images
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': `private, max-age=${KEPT_S}`,
};

/** Express's error for a file that it could not send. */
interface SendError extends Error {
  status?: number;
  headers?: Record<string, string>;
}

/** @throws fileAddressErrors.notAllowed */
function grantOf(local: LocalFiles, action: 'upload' | 'download', req: Request) {
  const { searchParams } = new URL(req.originalUrl, 'http://localhost');
  const grant = local.grantOf(action, String(req.params.objectId), searchParams);
  if (!grant) throw errors.notAllowed();
  return grant;
}

/** Receives a body of the granted type and size. Checks the declared size before reading anything. */
async function upload(local: LocalFiles, uploads: Uploads, req: Request, res: Response): Promise<void> {
  const object = grantOf(local, 'upload', req);
  const type = (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type !== object.type) {
    res.set('accept', object.type);
    throw errors.wrongType();
  }
  const declared = req.headers['content-length'];
  if (declared !== undefined && Number(declared) > object.size) throw errors.tooLarge();
  if (declared !== undefined && Number(declared) < object.size) throw errors.wrongSize();
  const own = await uploads.begin(object.objectId);
  try {
    const result = await local.receive(object, req, own.mayStore);
    if (result === 'too large') throw errors.tooLarge();
    if (result === 'too small') throw errors.wrongSize();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw FULL.has(code) ? errors.noRoom({ retryAfter: RETRY_AFTER_FULL_S, cause: error }) : error;
  } finally {
    await own.end();
  }
  res.status(200).end();
}

/** Sends the file or the requested range. */
function download(local: LocalFiles, req: Request, res: Response, next: NextFunction): void {
  const object = grantOf(local, 'download', req);
  const { root, file, disposition } = local.locate(object);
  const headers = { ...SAFE_HEADERS, 'content-type': object.type, 'content-disposition': disposition };
  // set directly, because Express would add a charset
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  const options = { root, dotfiles: 'deny', cacheControl: false, acceptRanges: true, lastModified: true } as const;
  res.sendFile(file, options, (error?: SendError) => {
    // nobody is left to answer
    if (!error || res.headersSent || req.socket.destroyed) return;
    for (const name of ['cache-control', 'content-disposition', 'content-type']) res.removeHeader(name);
    if (error.status === 404) return next(errors.notFound());
    if (error.status === 412) return next(requestErrors.preconditionFailed());
    if (error.status !== 416) return next(error);
    res.set(error.headers ?? {});
    next(errors.wrongRange());
  });
}

/** Serves, below `/files`, the signed addresses of files on disk, without sign-in: the signature is the permission. */
export function createFilesRoute(local: LocalFiles, uploads: Uploads): Router {
  const routes = Router({ caseSensitive: true });
  routes.put('/:objectId', async (req, res) => {
    try {
      await upload(local, uploads, req, res);
    } catch (error) {
      // nobody is left to answer after an aborted upload
      const isBrokenOff = req.destroyed && !req.complete;
      if (isBrokenOff) res.destroy();
      // closes the connection, instead of reading the rest of a refused body
      else if (!req.complete) res.set('connection', 'close');
      if (!isBrokenOff) throw error;
    }
  });
  routes.get('/:objectId', (req, res, next) => download(local, req, res, next));
  return routes;
}
