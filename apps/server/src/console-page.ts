import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FilesDriver } from '@tandem/drivers/files';
import { MAIL_PAGES } from '@tandem/services';
import { Router, type NextFunction, type Response } from 'express';

/**
 * The built console: its page, and under `assets` its files, named by content hash. Installed as a package, the server
 * has it in a folder of its own; in the repository it is where it was built.
 */
const FOLDER = ['../console', '../../console/dist']
  .map((place) => fileURLToPath(new URL(place, import.meta.url)))
  .find((folder) => existsSync(path.join(folder, 'index.html')));

/** Settings that the console needs before sign-in. */
interface ConsoleSettings {
  authMode: 'bearer' | 'cookie';
  /** The identity type of admins. */
  adminTypeId: string;
}

/**
 * The page's content security policy: it may load its own assets and images of files, and call its own server. No text
 * becomes code or markup.
 * @param filesOrigin where files are downloaded from
 */
function contentSecurityPolicy(filesOrigin: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' ${filesOrigin}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join(';');
}

/** The origin of a driver's URLs. */
async function originOf(files: Pick<FilesDriver, 'downloadUrl'>): Promise<string> {
  return new URL(await files.downloadUrl({ objectId: randomUUID(), type: 'image/png', size: 1 })).origin;
}

/** Sends a file; a path outside the folder is 404, like any unknown path. */
function send(
  file: string,
  { root, headers }: { root: string; headers: Record<string, string> },
  res: Response,
  next: NextFunction,
): void {
  res.sendFile(file, { root, cacheControl: false, headers }, (error?: unknown) => {
    if (error && !res.headersSent) next();
  });
}

/** Serves the console at `/console`, and the pages that mails link to. Serves nothing if the console was not built. */
export function createConsolePage(settings: ConsoleSettings, files: Pick<FilesDriver, 'downloadUrl'>): Router {
  const page = Router({ strict: true });
  if (FOLDER === undefined) return page;
  const assets = { root: path.join(FOLDER, 'assets'), headers: { 'cache-control': 'public, max-age=31536000, immutable' } };

  page.get('/console/settings.json', (_req, res) => void res.set('cache-control', 'no-cache').json(settings));
  page.get('/console/assets/:file', (req, res, next) => send(req.params.file, assets, res, next));
  page.get(['/console', '/console/', '/console/*page'], async (req, res, next) => {
    if (req.path.startsWith('/console/assets/')) return next();
    const policy = contentSecurityPolicy(await originOf(files));
    const headers = { 'cache-control': 'no-cache', 'content-security-policy': policy };
    send('index.html', { root: FOLDER, headers }, res, next);
  });
  // links in mails lead here until a host has pages of its own (decisions A14)
  for (const name of MAIL_PAGES)
    page.get(`/${name}`, (req, res) => {
      const [, query] = req.originalUrl.split('?', 2);
      res.redirect(`console/${name}${query === undefined ? '' : `?${query}`}`);
    });
  return page;
}
