import { authenticationErrors, operationsOf, takesKey, type OpenApiDocument } from '@tandem/core';
import { describedOperations, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { CREATES } from './idempotency-link.js';
import { PUBLIC_PROCEDURES } from './renewal-link.js';
import { NO_ACCESS_COOKIE, UNVERIFIED } from './session.js';

describe('the client', () => {
  it('knows which procedures of auth need no authentication, as in the server’s document', async () => {
    await using app = await startTestServer();
    const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
    const open = describedOperations(document).filter(({ isOpen, name }) => isOpen && name.startsWith('auth.'));
    expect([...PUBLIC_PROCEDURES].sort()).toEqual(open.map(({ name }) => name).sort());
  });

  it('knows which procedures create, by the key that the server’s document says they take', async () => {
    await using app = await startTestServer();
    const taking = operationsOf(app.tandem.router).filter(takesKey);
    expect([...CREATES].sort()).toEqual(taking.map(({ name }) => name).sort());
  });

  it('knows the texts with which the server refuses an old access token', () => {
    expect([UNVERIFIED, NO_ACCESS_COOKIE]).toEqual([
      authenticationErrors.unverified.message,
      authenticationErrors.missingCookie.message,
    ]);
  });
});
