import { defineConfig } from 'vite';

export default defineConfig({
  root: 'src',
  base: '/console/',
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    // supported by browsers of the last two years; the module polyfill would add markup that the page's policy refuses
    target: 'es2023',
    modulePreload: { polyfill: false },
    // nothing inline: the policy allows no data: URLs
    assetsInlineLimit: 0,
  },
});
