import { Router } from 'express';
import { ASSETS, sendPage } from './pages.js';

/** The API reference at `/docs`: shows the server's own OpenAPI document and loads nothing from elsewhere (decisions T1). */
export function createApiPage(): Router {
  const page = Router();
  if (ASSETS === undefined) return page;
  page.get(['/docs', '/docs/*operation'], (_req, res) => sendPage('reference/index.html', res));
  return page;
}
