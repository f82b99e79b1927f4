import type { ServerFacts } from '@tandem/core';
import type { AnyTRPCRouter } from '@trpc/server';
import type { Router } from 'express';
import type { TandemConfiguration } from './configuration.js';

/** Agents must neither sign in as people nor manage their sessions. */
const WITHOUT = ['auth'];

/**
 * Makes the MCP faces of routers, if the setting is on. Loads the SDK only then.
 * @throws Error where the SDK is not installed
 */
export async function openMcp(
  setting: TandemConfiguration['mcp'],
  server: ServerFacts,
  about: { services: readonly { name: string; description: string }[]; bodyLimit: number },
): Promise<((router: AnyTRPCRouter) => Router) | undefined> {
  if (setting === undefined || setting === false) return undefined;
  const { createMcpFace } = await import('@tandem/core/mcp').catch((cause: unknown) => {
    throw new Error('mcp needs a package: npm install @modelcontextprotocol/server', { cause });
  });
  const named = setting === true ? { name: 'Tandem', version: '1' } : setting;
  return (router) => createMcpFace(router, server, { ...named, ...about, without: WITHOUT });
}
