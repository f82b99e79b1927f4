import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Router } from 'express';

const FILES = { 'swagger-ui.css': 'text/css', 'swagger-ui-bundle.js': 'text/javascript', 'favicon-32x32.png': 'image/png' };

/** Our own start script: the one in the package loads an example from the network. */
const START = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#page', deepLinking: true, validatorUrl: null });\n`;
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tandem API</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="page"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/** The API page: shows the server's own OpenAPI document and loads nothing from elsewhere (decisions T1). */
export function createApiPage(): Router {
  const require = createRequire(import.meta.url);
  const page = Router({ strict: true });
  page.get('/docs', (_req, res) => void res.type('html').send(PAGE));
  page.get('/docs/', (_req, res) => res.redirect('../docs'));
  page.get('/docs/start.js', (_req, res) => void res.type('text/javascript').send(START));
  for (const [name, type] of Object.entries(FILES)) {
    const file = require.resolve(`swagger-ui-dist/${name}`);
    // read on first use and cached: the files never change within a release
    let content: Buffer | undefined;
    page.get(`/docs/${name}`, (_req, res) => {
      content ??= readFileSync(file);
      res.type(type).set('cache-control', 'public, max-age=3600').send(content);
    });
  }
  return page;
}
