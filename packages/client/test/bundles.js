import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/**
 * What front ends load of the client, as their bundlers would: `npm run size` prints it, and fails over budget. A
 * budget is in bytes, minified and gzipped.
 * @type {Record<string, { code: string, budget: number }>}
 */
export const BUNDLES = {
  'all of it': { code: "export * from '@tandem/client'", budget: 19_300 },
  'the typed client': { code: "export { createTandemClient, describeFailure } from '@tandem/client'", budget: 11_300 },
  'list queries': {
    code: "export { queryOf, rowsOf, and, or, not, field, filter, groupBy, aggregate, count } from '@tandem/client'",
    budget: 1_700,
  },
  chat: { code: "export { createChatClient } from '@tandem/client'", budget: 6_900 },
  'chat state': {
    code: "export { applyToChannel, applyToMessages, joinChannels, joinEarlier, joinNewest, readUpTo } from '@tandem/client'",
    budget: 1_200,
  },
  notifications: { code: "export { createNotificationStream } from '@tandem/client'", budget: 4_500 },
  'React hooks': { code: "export * from '@tandem/react'", budget: 22_500 },
  passkeys: { code: "export * from '@tandem/client/passkeys'", budget: 3_200 },
  people: { code: "export { createPeople } from '@tandem/client'", budget: 700 },
  uploads: { code: "export { uploadFile } from '@tandem/client'", budget: 800 },
};

/**
 * Bundles code for browsers from the packages' sources.
 * @param {string} code
 * @returns {Promise<{ minified: number, compressed: number, modules: string[] }>} bytes, and the modules that
 * contribute to the bundle
 * @throws when a module is not found, as all Node modules are not in a browser
 */
export async function bundle(code) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: code, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['tandem-source'],
    // pages have the first two already, and load the third when somebody uses a passkey
    external: ['react', '@tanstack/react-query', ...(code.includes('/passkeys') ? [] : ['@tandem/client/passkeys'])],
    logLevel: 'silent',
  });
  const { contents } = /** @type {import('esbuild').OutputFile} */ (outputFiles[0]);
  const modules = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([name, { bytesInOutput }]) => (bytesInOutput > 0 ? [name] : [])),
  );
  return { minified: contents.length, compressed: gzipSync(contents, { level: 9 }).length, modules };
}

async function main() {
  for (const [name, { code, budget }] of Object.entries(BUNDLES)) {
    const { minified, compressed } = await bundle(code);
    const isOver = compressed > budget;
    console.log(
      `${name.padEnd(18)} ${String(minified).padStart(6)} B minified ${String(compressed).padStart(6)} B gzip, budget ${budget} B${isOver ? ': too much' : ''}`,
    );
    if (isOver) process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
