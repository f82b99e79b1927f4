import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BUNDLES, bundle } from '../test/bundles.js';

/** The parts in a bundle, each recognized by one of its modules. */
async function partsOf(name: string): Promise<string[]> {
  const { modules } = await bundle(BUNDLES[name]?.code ?? '');
  const parts = {
    typed: 'client/src/client.ts',
    lists: 'builder-query.ts',
    chat: 'chat-client.ts',
    notifications: 'notification-stream.ts',
    uploads: 'upload.ts',
  };
  return Object.entries(parts).flatMap(([part, file]) => (modules.some((module) => module.endsWith(file)) ? [part] : []));
}

describe('what a front end loads of the client', () => {
  it.each(Object.entries(BUNDLES))('runs in browsers, and within its budget: %s', async (_name, { code, budget }) => {
    const { compressed, modules } = await bundle(code);
    expect(compressed).toBeLessThanOrEqual(budget);
    expect(compressed).toBeGreaterThan(budget / 2);
    expect(
      modules.filter(
        (module) =>
          !/^(packages\/(client|list-query|react)\/src|node_modules\/(@trpc\/(client|server)|@simplewebauthn\/browser))\//.test(
            module,
          ),
      ),
    ).toEqual([]);
  });

  it('contains only what it uses', async () => {
    expect(await partsOf('all of it')).toEqual(['typed', 'lists', 'chat', 'notifications', 'uploads']);
    expect(await partsOf('the typed client')).toEqual(['typed']);
    expect(await partsOf('list queries')).toEqual(['lists']);
    expect(await partsOf('chat')).toEqual(['chat', 'uploads']);
    expect(await partsOf('notifications')).toEqual(['notifications']);
    expect(await partsOf('uploads')).toEqual(['uploads']);
  });

  it('could not be bundled with a Node module', async () => {
    await expect(bundle("export * from '@tandem/client'; export { readFile } from 'node:fs'")).rejects.toThrow('node:fs');
  });

  it('is ES modules only, without side effects', () => {
    const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      type: string;
      sideEffects: boolean;
      exports: Record<string, Record<string, string>>;
    };
    expect(manifest).toMatchObject({ type: 'module', sideEffects: false });
    expect(Object.values(manifest.exports).flatMap((conditions) => Object.keys(conditions))).not.toContain('require');
  });
});
