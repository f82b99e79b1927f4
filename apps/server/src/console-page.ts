import { randomUUID } from 'node:crypto';
import type { FilesDriver } from '@tandem/drivers/files';
import { MAIL_PAGES, isTrustedAddress } from '@tandem/services';
import { Router } from 'express';
import type { Config } from './config.js';
import { ASSETS, sendPage } from './pages.js';

/** A host's own name, logo and color. */
export interface Brand {
  name: string;
  logoUrl: string | undefined;
  /** As `#rrggbb`. */
  color: string | undefined;
}

/** Settings that the console needs before sign-in. */
interface ConsoleSettings {
  authMode: 'bearer' | 'cookie';
  /** The identity type of admins. */
  adminTypeId: string;
  brand: Brand;
  /** Whether the server makes passkeys. */
  passkeys: boolean;
  /** Names of the identity providers by which people sign in on it. */
  providers: string[];
  /** Where these send people back. */
  returnUrl?: string;
}

/** The page of the console to which identity providers send people back; undefined where there is none, or others can read it. */
export function consoleReturnUrl({ console, providers, redirectUrls }: Config, publicUrl: string): string | undefined {
  // providers without any address to return to are refused at start
  const hasProviders = Object.keys(providers).length > 0 && redirectUrls.length > 0;
  const isUsed = console && hasProviders && isTrustedAddress(new URL(publicUrl));
  return isUsed ? new URL('/console/returned', publicUrl).href : undefined;
}

/** The origin of a driver's URLs. */
async function originOf(files: Pick<FilesDriver, 'downloadUrl'>): Promise<string> {
  return new URL(await files.downloadUrl({ objectId: randomUUID(), type: 'image/png', size: 1 })).origin;
}

/** Serves the console at `/console`, and the pages that mails link to. Serves nothing if the console was not built. */
export function createConsolePage(settings: ConsoleSettings, files: Pick<FilesDriver, 'downloadUrl'>): Router {
  const page = Router({ strict: true });
  if (ASSETS === undefined) return page;

  const { logoUrl } = settings.brand;
  const logoFrom = logoUrl === undefined ? '' : new URL(logoUrl).origin;
  page.get('/console/settings.json', (_req, res) => void res.set('cache-control', 'no-cache').json(settings));
  page.get(['/console', '/console/', '/console/*page'], async (_req, res) =>
    sendPage('index.html', res, { filesFrom: await originOf(files), imagesFrom: logoFrom }),
  );
  // links in mails lead here until a host has pages of its own (decisions A14)
  for (const name of MAIL_PAGES)
    page.get(`/${name}`, (req, res) => {
      const [, query] = req.originalUrl.split('?', 2);
      res.redirect(`console/${name}${query === undefined ? '' : `?${query}`}`);
    });
  return page;
}
