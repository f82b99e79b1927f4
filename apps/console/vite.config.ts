import { defineConfig, type Plugin } from 'vite';
import compile from 'icu-minify/compile';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

const ENCODINGS = { '.br': promisify(brotliCompress), '.gz': promisify(gzip) };

/** Writes each file compressed too, for the server to send as it is. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    order: 'post',
    async handler(_options, bundle) {
      if (this.meta.watchMode) return;
      for (const asset of Object.values(bundle)) {
        if (!/\.(js|css|svg|html)$/.test(asset.fileName)) continue;
        for (const [ending, compress] of Object.entries(ENCODINGS)) {
          const source = await compress(asset.type === 'chunk' ? asset.code : asset.source);
          this.emitFile({ type: 'asset', fileName: asset.fileName + ending, source });
        }
      }
    },
  },
};

/** The strings in something, compiled as ICU messages. */
function compiled(texts: unknown): unknown {
  if (typeof texts === 'string') return compile(texts);
  return Object.fromEntries(Object.entries(texts as object).map(([key, text]) => [key, compiled(text)]));
}

/** Compiles the texts of each language, so that pages need no parser of ICU messages. */
const compiledTexts: Plugin = {
  name: 'compiled-texts',
  transform: {
    filter: { id: /\/src\/texts\/\w\w\/[\w-]+\.ts$/ },
    async handler(code) {
      const { texts } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { texts: object };
      return { code: `export const texts = ${JSON.stringify(compiled(texts))};`, map: null };
    },
  },
};

/** What stands in the head of every page. */
const head: Plugin = {
  name: 'head',
  transformIndexHtml: {
    order: 'pre',
    handler: () => [
      { tag: 'meta', attrs: { charset: 'utf-8' } },
      { tag: 'meta', attrs: { name: 'viewport', content: 'width=device-width, initial-scale=1' } },
      { tag: 'meta', attrs: { name: 'color-scheme', content: 'light dark' } },
      { tag: 'link', attrs: { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' } },
      { tag: 'link', attrs: { rel: 'stylesheet', href: '/styles.css' } },
    ],
  },
};

export default defineConfig({
  root: 'src',
  plugins: [head, compiledTexts, compressed],
  resolve: { alias: { 'use-intl/format-message': 'use-intl/format-message/format-only' } },
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    rolldownOptions: {
      input: ['src/index.html', 'src/reference/index.html', 'src/not-found.html'],
      // libraries mark what needs a browser; all of this does
      checks: { moduleLevelDirective: false },
    },
    // supported by browsers of the last two years; the module polyfill would add markup that the page's policy refuses
    target: 'es2023',
    modulePreload: { polyfill: false },
    // nothing inline: the policy allows no data: URLs
    assetsInlineLimit: 0,
  },
});
