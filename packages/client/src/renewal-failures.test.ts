import { fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { createExpiredClient, failureOf, isRefresh } from '../test/clients.js';
import type { BeforeSending } from '../test/recording-fetch.js';

const app = fixture(startTestServer);

describe('a refresh that fails for a passing reason', () => {
  it('keeps the tokens when the server is down; they work when it is back', async () => {
    const first = await startTestServer({ clock: app.clock });
    let close = async () => {};
    const before: BeforeSending = (request) => (isRefresh(request) ? close() : undefined);
    const { unread, tokens, signedOut } = await createExpiredClient(first, { before });
    close = () => first.close();
    const kept = await tokens.load();

    const unreachable = {
      status: undefined,
      message: expect.stringMatching(/^the server at \S+ cannot be reached \([A-Z_]+\)$/) as unknown,
    };
    expect(await failureOf(unread())).toMatchObject(unreachable);
    expect(await failureOf(unread())).toMatchObject(unreachable);
    expect([await tokens.load(), signedOut]).toEqual([kept, []]);

    await using back = await startTestServer({ clock: app.clock, port: Number(new URL(first.url).port) });
    expect(back.url).toBe(first.url);
    expect(await unread()).toEqual({ unread: 0 });
  });

  it('is sent again while the server repeats its answer, which was lost: no caller notices', async () => {
    let losses = 0;
    const send: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      if (!new Request(input).url.includes('auth.refreshToken') || ++losses > 1) return answer;
      throw new TypeError('fetch failed');
    };
    const { unread, tokens, signedOut, count } = await createExpiredClient(app, { fetch: send });
    const before = await tokens.load();
    expect(await unread()).toEqual({ unread: 0 });
    app.clock.advance(60_000);
    expect(await unread()).toEqual({ unread: 0 });
    expect([count('auth.refreshToken'), signedOut]).toEqual([2, []]);
    expect(await tokens.load()).not.toEqual(before);
  });

  it.each([429, 500, 502, 503])('keeps the tokens on a %i, which all waiting callers see', async (status) => {
    let isBad = true;
    const answer = () => Response.json({ error: { message: 'Not now' } }, { status });
    const before: BeforeSending = (request) => (isRefresh(request) && isBad ? answer() : undefined);
    const { unread, tokens, signedOut, count } = await createExpiredClient(app, { before });
    const kept = await tokens.load();

    const failures = await Promise.all([failureOf(unread()), failureOf(unread())]);

    expect(failures).toEqual(failures.map(() => ({ status, message: 'Not now', data: [] })));
    expect([await tokens.load(), signedOut, count('auth.refreshToken')]).toEqual([kept, [], 1]);
    isBad = false;
    expect(await unread()).toEqual({ unread: 0 });
  });
});
