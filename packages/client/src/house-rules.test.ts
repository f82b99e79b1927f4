import { authenticationErrors, type OpenApiDocument } from '@tandem/core';
import { describedOperations, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { PUBLIC_PROCEDURES } from './renewal-link.js';
import { NO_ACCESS_COOKIE, UNVERIFIED } from './session.js';

describe('the client', () => {
  it('knows which procedures need no authentication, as in the server’s document', async () => {
    await using app = await startTestServer();
    const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
    const open = describedOperations(document).filter(({ isOpen }) => isOpen);
    expect([...PUBLIC_PROCEDURES].sort()).toEqual(open.map(({ name }) => name).sort());
  });

  it('knows the texts with which the server refuses an old access token', () => {
    expect([UNVERIFIED, NO_ACCESS_COOKIE]).toEqual([
      authenticationErrors.unverified.message,
      authenticationErrors.missingCookie.message,
    ]);
  });
});
