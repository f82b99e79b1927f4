import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { authenticationErrors } from '@tandem/core';
import { startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { PUBLIC_PROCEDURES } from './renewal-link.js';
import { NO_ACCESS_COOKIE, UNVERIFIED } from './session.js';

/** What a module loads at run time: its imports and re-exports, without those of types alone. */
function importsOf(code: string): string[] {
  const statements = code.matchAll(/^\s*(?:import|export)\s+(?!type\b)(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm);
  return [...statements].map(([, specifier]) => specifier as string);
}

function resolve(specifier: string, from: string): string {
  const source = fileURLToPath(new URL(specifier.replace(/\.js$/, '.ts'), `file://${from}`));
  if (specifier.startsWith('.')) return existsSync(source) ? source : fileURLToPath(new URL(specifier, `file://${from}`));
  // the builds for `require` and for `import` differ only in their ending
  return createRequire(from)
    .resolve(specifier)
    .replace(/\.cjs$/, '.mjs');
}

/** Every module that the entry loads, with what it names. */
function walk(file: string, seen = new Map<string, string[]>()): Map<string, string[]> {
  if (seen.has(file)) return seen;
  const specifiers = importsOf(readFileSync(file, 'utf8'));
  seen.set(file, specifiers);
  for (const specifier of specifiers) if (!specifier.startsWith('node:')) walk(resolve(specifier, file), seen);
  return seen;
}

describe('the client', () => {
  it('loads tRPC’s client, the builder of list queries and nothing else: no module of Node, no package of the server', () => {
    const modules = walk(fileURLToPath(new URL('index.ts', import.meta.url)));
    const specifiers = [...modules.values()].flat();
    expect([...modules.keys()].some((file) => file.includes('@trpc/client/dist'))).toBe(true);
    const packages = new Set(
      specifiers.filter((specifier) => !specifier.startsWith('.')).map((name) => name.split('/', 2).join('/')),
    );
    expect([...packages].sort()).toEqual(['@tandem/list-query', '@trpc/client', '@trpc/server']);
    expect(specifiers.filter((name) => name.startsWith('@tandem/'))).toEqual(
      expect.arrayContaining(['@tandem/list-query/builder']),
    );
    expect(specifiers.some((name) => name === '@tandem/list-query')).toBe(false);
  });

  it('knows which procedures need nobody signed in, as the server’s document says', async () => {
    await using app = await startTestServer();
    const { paths } = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string; security?: unknown }>>;
    };
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const open = operations.filter(({ security }) => security === undefined).map(({ operationId }) => operationId);
    expect([...PUBLIC_PROCEDURES].sort()).toEqual(open.sort());
  });

  it('knows the texts by which the server refuses an old access token', () => {
    expect([UNVERIFIED, NO_ACCESS_COOKIE]).toEqual([
      authenticationErrors.unverified.message,
      authenticationErrors.missingCookie.message,
    ]);
  });
});
