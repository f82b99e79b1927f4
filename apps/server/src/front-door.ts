import { readdirSync } from 'node:fs';
import { operationsOf, requestErrors, toEnvelope } from '@tandem/core';
import type { AnyTRPCRouter } from '@trpc/server';
import { Router, type Request } from 'express';
import { ASSETS, sendPage } from './pages.js';

/** Paths of programs alone, besides those of operations, by their first word. */
const PROGRAMS = ['trpc', 'mcp', 'files', 'assets', 'health', 'metrics', 'openapi.json', 'asyncapi.json'];

const firstWord = (path: string) => path.split('/', 2)[1] ?? '';

/** Browsers name HTML first; programs name JSON, or anything. */
const isForPeople = (req: Request) => req.accepts(['json', 'html']) === 'html';

/**
 * What people and programs find at `/`, and people at an address that does not exist: a page. Comes after all routes.
 * @param console whether there is one
 */
export function createFrontDoor(router: AnyTRPCRouter, { console }: { console: boolean }): Router {
  const door = Router({ strict: true });
  door.get('/', (req, res) => {
    res.vary('Accept');
    if (ASSETS !== undefined && isForPeople(req)) res.redirect(console ? 'console' : 'docs');
    else
      res.json({
        name: 'Tandem',
        openapi: '/openapi.json',
        asyncapi: '/asyncapi.json',
        docs: '/docs',
        ...(console && { console: '/console' }),
      });
  });
  const folder = ASSETS;
  if (folder === undefined) return door;

  door.get('/favicon.ico', (_req, res, next) => {
    const icon = readdirSync(folder).find((file) => /^icon-[\w-]+\.svg$/.test(file));
    if (icon === undefined) next();
    else res.redirect(`assets/${icon}`);
  });
  const words = new Set([...PROGRAMS, ...operationsOf(router).map(({ path }) => firstWord(path))]);
  door.use(async (req, res, next) => {
    if (!['GET', 'HEAD'].includes(req.method) || words.has(firstWord(req.path))) return next();
    res.vary('Accept');
    if (!isForPeople(req)) return next();
    const { status, headers } = toEnvelope(requestErrors.noSuchRoute(), false);
    await sendPage('not-found.html', res.status(status).set(headers));
  });
  return door;
}
