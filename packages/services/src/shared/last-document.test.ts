import type { AnyTRPCRouter } from '@trpc/server';
import { fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const app = fixture(() => startTestServer());
const options = { title: 'Shop', description: '', version: '1', url: '/' };

/** The services' router, which tells how often it was read, and can fail. */
function watchedRouter() {
  const seen = { reads: 0, fails: false };
  const router: AnyTRPCRouter = new Proxy(app.tandem.router, {
    get(target, key, receiver) {
      seen.reads += 1;
      if (seen.fails) throw new Error('no router');
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  return { seen, make: (title = 'Shop') => app.tandem.openApi({ ...options, title }, router) };
}

describe('the OpenAPI document', () => {
  it('is made once for a router and options, and each caller may change theirs', async () => {
    const { seen, make } = watchedRouter();
    const [first, beside] = await Promise.all([make(), make()]);
    const { reads } = seen;
    expect(reads).toBeGreaterThan(0);
    first.paths = {};
    expect(await make()).toEqual(beside);
    expect(beside.paths).toHaveProperty('/auth/login');
    expect(seen.reads).toBe(reads);
    expect(await make('Other')).toMatchObject({ info: { title: 'Other' } });
    expect(await app.tandem.openApi(options)).toEqual(beside);
    expect(seen.reads).toBeGreaterThan(reads);
  });

  it('is made again after a failure', async () => {
    const { seen, make } = watchedRouter();
    seen.fails = true;
    await expect(make()).rejects.toThrow('no router');
    seen.fails = false;
    expect(await make()).toMatchObject({ info: { title: 'Shop' } });
  });
});
