import { authenticationErrors } from '@tandem/core';
import { startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { PUBLIC_PROCEDURES } from './renewal-link.js';
import { NO_ACCESS_COOKIE, UNVERIFIED } from './session.js';

describe('the client', () => {
  it('knows which procedures need no authentication, as in the server’s document', async () => {
    await using app = await startTestServer();
    const { paths } = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string; security?: unknown }>>;
    };
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    const open = operations.filter(({ security }) => security === undefined).map(({ operationId }) => operationId);
    expect([...PUBLIC_PROCEDURES].sort()).toEqual(open.sort());
  });

  it('knows the texts with which the server refuses an old access token', () => {
    expect([UNVERIFIED, NO_ACCESS_COOKIE]).toEqual([
      authenticationErrors.unverified.message,
      authenticationErrors.missingCookie.message,
    ]);
  });
});
