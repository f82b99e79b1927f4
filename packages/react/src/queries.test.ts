import type { RouterInputs, RouterOutputs, TandemError } from '@tandem/client';
import { PASSWORD, fixture, startTestServer } from '@tandem/testing';
import { skipToken, useQueries } from '@tanstack/react-query';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createRecordingFetch } from '../../client/test/recording-fetch.js';
import { render } from '../test/render.js';
import { tokensOf } from '../test/tokens.js';
import { useSession, useTandem, useTandemMutation, useTandemQuery } from './index.js';

const app = fixture(startTestServer);

describe('useTandemQuery', () => {
  it('answers with the procedure’s output, and shares one request with the other calls of a rendering', async () => {
    const ann = await app.signUp();
    await app.tandem.services.notifications.notify(ann.id, { kind: 'parcel' });
    const { fetch, requests } = createRecordingFetch();
    const { until } = render(
      app,
      () =>
        [
          useTandemQuery('notifications.list', { identityId: ann.id }),
          useTandemQuery('notifications.unreadCount', { identityId: ann.id }),
        ] as const,
      { tokens: tokensOf(ann), fetch },
    );
    const [list, count] = await until((queries) => queries.every(({ isSuccess }) => isSuccess));
    expect([list.data?.data, count.data]).toEqual([[expect.objectContaining({ kind: 'parcel' })], { unread: 1 }]);
    expect(requests.map(({ procedures }) => [...new Set(procedures)])).toEqual([
      ['notifications.list', 'notifications.unreadCount'],
    ]);
  });

  it('fails at once with status, message and problems, when the server refuses', async () => {
    const ann = await app.signUp();
    const { fetch, requests } = createRecordingFetch();
    const call = () => useTandemQuery('notifications.list', { identityId: ann.id, limit: 500 });
    const { until } = render(app, call, { tokens: tokensOf(ann), fetch });
    const { error } = await until(({ isError }) => isError);
    expect(error).toMatchObject({
      status: 400,
      message: 'Validation Error',
      data: ["query parameter 'limit' must be <= 50"],
    });
    expect(requests).toHaveLength(1);
  });

  it('asks again when the server could not answer', async () => {
    let failures = 1;
    const { fetch } = createRecordingFetch(() => (failures-- > 0 ? new Response('starting', { status: 503 }) : undefined));
    const { until } = render(app, () => useTandemQuery('categories.list', {}, { retryDelay: 0 }), { fetch });
    expect((await until(({ isSuccess }) => isSuccess)).data?.data).toEqual([]);
  });

  it('asks nothing while its input is missing', async () => {
    const ann = await app.signUp();
    const { fetch, requests } = createRecordingFetch();
    const hooks = () => {
      const { identityId, signIn } = useSession();
      const unread = useTandemQuery('notifications.unreadCount', identityId === undefined ? skipToken : { identityId });
      return { unread, signIn };
    };
    const { until } = render(app, hooks, { fetch });
    const { unread, signIn } = await until(() => true);
    expect([unread.fetchStatus, requests]).toEqual(['idle', []]);
    await signIn({ email: ann.email, password: PASSWORD });
    expect((await until((now) => now.unread.isSuccess)).unread.data).toEqual({ unread: 0 });
  });

  it('cancels a request that nobody waits for any more', async () => {
    const signals: AbortSignal[] = [];
    const never: typeof fetch = (_url, init) => {
      signals.push(init?.signal as AbortSignal);
      return new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    };
    const rendered = render(app, () => useTandemQuery('categories.list', {}), { fetch: never });
    await expect.poll(() => signals.length).toBeGreaterThan(0);
    rendered.unmount();
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it('is typed by the procedure’s name', () => {
    const typed = () => {
      const { data, error } = useTandemQuery('notifications.list', { identityId: '' });
      expectTypeOf(data).toEqualTypeOf<RouterOutputs['notifications']['list'] | undefined>();
      expectTypeOf(error).toEqualTypeOf<TandemError | null>();
      const { data: total } = useTandemQuery(
        'notifications.list',
        { identityId: '' },
        { select: (page) => page.metadata.pagination.total },
      );
      expectTypeOf(total).toEqualTypeOf<number | undefined>();
      const { mutate } = useTandemMutation('notifications.markRead');
      expectTypeOf(mutate).parameter(0).toEqualTypeOf<RouterInputs['notifications']['markRead']>();
      // @ts-expect-error no such procedure
      useTandemQuery('notifications.nonsense', {});
      // @ts-expect-error the id is missing
      useTandemQuery('notifications.list', {});
      // @ts-expect-error a mutation
      useTandemQuery('notifications.markRead', { notificationId: '' });
    };
    expectTypeOf(typed).toBeFunction();
  });
});

describe('useTandemMutation', () => {
  it('is done when what it has changed is loaded again', async () => {
    const ann = await app.signUp();
    const { id: notificationId } = await app.tandem.services.notifications.notify(ann.id, { kind: 'parcel' });
    const hooks = () => ({
      unread: useTandemQuery('notifications.unreadCount', { identityId: ann.id }),
      reading: useTandemMutation('notifications.markRead', { invalidates: ['notifications'] }),
    });
    const { until, all } = render(app, hooks, { tokens: tokensOf(ann) });
    const { reading } = await until(({ unread }) => unread.data?.unread === 1);
    reading.mutate({ notificationId });
    await until((now) => now.reading.isSuccess);
    expect(all.find((now) => now.reading.isSuccess)?.unread.data).toEqual({ unread: 0 });
  });

  it('creates once, however often it is tried again for the same input', async () => {
    const ann = await app.signUp();
    let losses = 2;
    const losing: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      if (new Request(input).url.includes('chat.createChannel') && losses-- > 0) throw new TypeError('fetch failed');
      return answer;
    };
    const hook = () => useTandemMutation('chat.createChannel', { retry: 1, retryDelay: 0 });
    const { until } = render(app, hook, { tokens: tokensOf(ann), fetch: losing });
    const { mutateAsync } = await until(() => true);
    const input = { name: 'Tea', ownerId: ann.id };
    const made = async () => (await ann.rest('GET', `/channels?memberId=${ann.id}`).expect<{ data: unknown[] }>(200)).data.length;
    await mutateAsync(input);
    expect([losses, await made()]).toEqual([-1, 1]);
    await mutateAsync(input);
    expect(await made()).toBe(2);
  });

  it('fails as a query does', async () => {
    const ann = await app.signUp();
    const { until } = render(app, () => useTandemMutation('notifications.markRead'), { tokens: tokensOf(ann) });
    const { mutate } = await until(() => true);
    mutate({ notificationId: 'none' });
    expect((await until(({ isError }) => isError)).error).toMatchObject({ status: 403, message: 'Invalid owner ID' });
  });
});

describe('useTandem', () => {
  it('has the calls as options, for whatever else TanStack Query can do', async () => {
    const ann = await app.signUp();
    const { until } = render(
      app,
      () => {
        const { api, queryOptions } = useTandem();
        const [products, categories] = useQueries({
          queries: [queryOptions('products.list', {}), queryOptions('categories.list', {})],
        });
        expectTypeOf(categories.data).toEqualTypeOf<RouterOutputs['categories']['list'] | undefined>();
        return { api, queries: [products, categories] };
      },
      { tokens: tokensOf(ann) },
    );
    const { api } = await until(({ queries }) => queries.every(({ isSuccess }) => isSuccess));
    expect(await api.notifications.unreadCount.query({ identityId: ann.id })).toEqual({ unread: 0 });
  });
});
