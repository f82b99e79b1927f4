import { defaultClientConditions, defineConfig, type Plugin, type Rolldown } from 'vite';
import compile from 'icu-minify/compile';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** The highest takes three times as long for two per cent less. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };
const brotli = promisify(brotliCompress);
type Compress = (source: string | Uint8Array) => Promise<Uint8Array>;
const ENCODINGS: readonly [ending: string, compress: Compress][] = [
  ['.br', (source) => brotli(source, QUALITY)],
  ['.gz', promisify(gzip)],
];

/** Writes each file compressed too, for the server to send as it is. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    order: 'post',
    async handler(_options, bundle) {
      if (this.meta.watchMode) return;
      const texts = Object.values(bundle).filter(({ fileName }) => /\.(js|css|svg|html)$/.test(fileName));
      const writeAs = async (text: (typeof texts)[number], [ending, compress]: (typeof ENCODINGS)[number]) => {
        const source = await compress(text.type === 'chunk' ? text.code : text.source);
        this.emitFile({ type: 'asset', fileName: text.fileName + ending, source });
      };
      await Promise.all(texts.flatMap((text) => ENCODINGS.map((encoding) => writeAs(text, encoding))));
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

const [CONSOLE, REFERENCE] = [/\/src\/index\.html$/, /\/src\/reference\/index\.html$/];
/** Where the reference tries operations. It must not load the file that begins the console. */
const TRYING = /\/src\/reference\/call-view\.tsx$/;
/** What the reference needs only once something is tried, of libraries that it names. */
const LATER = /\/(@trpc|client\/src|list-query\/src)\/(?!token-store)/;

type Graph = Parameters<Rolldown.CodeSplittingNameFunction>[1];
/** Whether a page begins with a module, or names it. */
function isOf(page: RegExp, id: string, graph: Graph, seen = new Set<string>()): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  return page.test(id) || (graph.getModuleInfo(id)?.importers.some((one) => isOf(page, one, graph, seen)) ?? false);
}

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
  resolve: {
    alias: { 'use-intl/format-message': 'use-intl/format-message/format-only' },
    conditions: ['tandem-source', ...defaultClientConditions],
  },
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    rolldownOptions: {
      input: ['src/index.html', 'src/reference/index.html', 'src/not-found.html'],
      // libraries mark what needs a browser; all of this does
      checks: { moduleLevelDirective: false },
      // the library does not say so of itself
      treeshake: { moduleSideEffects: [{ test: /@trpc\/client/, sideEffects: false }] },
      // what pages begin with is in three files, of both, of calls and of the console's own: twenty small ones take longer than their bytes
      output: {
        codeSplitting: {
          groups: [
            // of one view alone, though the library's index names it
            { name: 'sockets', test: /wsLink/, includeDependenciesRecursively: false },
            {
              name: (id, graph) => (!LATER.test(id) && isOf(REFERENCE, id, graph) && isOf(CONSOLE, id, graph) ? 'both' : null),
              tags: ['$initial'],
            },
            {
              name: (id, graph) => (isOf(TRYING, id, graph) && isOf(CONSOLE, id, graph) ? 'calls' : null),
              tags: ['$initial'],
            },
            { name: (id, graph) => (isOf(CONSOLE, id, graph) ? 'console' : null), tags: ['$initial'] },
          ],
        },
      },
    },
    // supported by browsers of the last two years; the module polyfill would add markup that the page's policy refuses
    target: 'es2023',
    modulePreload: { polyfill: false },
    // nothing inline: the policy allows no data: URLs
    assetsInlineLimit: 0,
  },
});
