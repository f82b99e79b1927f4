import { defineConfig } from 'vite';

export default defineConfig({
  root: 'src',
  base: '/console/',
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    // what browsers of the last two years take; none of them needs the polyfill, whose markup the page's policy would refuse
    target: 'es2023',
    modulePreload: { polyfill: false },
    // nothing inline: the policy takes no data: addresses
    assetsInlineLimit: 0,
  },
});
