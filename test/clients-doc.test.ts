import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createChatClient, createTandemClient, type ChatClient, type TandemClient } from '@tandem/client';
import {
  PASSWORD,
  PATIENCE,
  createBrowser,
  fixture,
  newOidcAccount,
  startOidcProvider,
  startTestServer,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { compile, runSample, sampleOf, samplesOf } from './samples.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CLIENTS = 'docs/clients.md';

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
afterEach(() => vi.unstubAllGlobals());

/** Runs the sample that contains this text, against a server. */
function run<Exported>(part: string, server: TestServer = app, document = CLIENTS) {
  const code = sampleOf(document, part)
    .replaceAll(/https:\/\/api\.example\.org|http:\/\/(127\.0\.0\.1|localhost):3000/g, server.url)
    .replace('ann@', `${randomUUID()}@`);
  return runSample<Exported>(code);
}
const signIn = (client: TandemClient, { email }: Person = ann) => client.signIn({ email, password: PASSWORD });

describe('docs/clients.md', () => {
  it('begins with an example that prints the documented output', async () => {
    expect((await run('await client.signUp(')).printed).toEqual([
      ['0 unread notifications'],
      [400, 'Validation Error', ["query parameter 'limit' must be <= 50"]],
    ]);
  });

  it('shows a chat', async () => {
    // built into browsers, and Node from 22 on
    vi.stubGlobal('WebSocket', WebSocket);
    interface Chat {
      client: TandemClient;
      open(channelId: string, show: (text: string) => void): { say(content: string): Promise<unknown>; close(): void };
    }
    const { client, open } = await run<Chat>('createChatClient(');
    await signIn(client);
    const { id: channelId } = await client.api.chat.createChannel.mutate({ name: 'Tea', ownerId: ann.id });
    const shown: string[] = [];
    const chat = open(channelId, (text) => shown.push(text));
    await expect.poll(() => shown, PATIENCE).toEqual(['the connection is up', '0 unread']);
    await chat.say('Is there tea?');
    await expect.poll(() => shown.at(-1), PATIENCE).toBe('Is there tea?');
    chat.close();
  });

  it('shows the messages of a page', async () => {
    vi.stubGlobal('WebSocket', WebSocket);
    type Show = (
      of: { client: TandemClient; chat: ChatClient; readerId: string },
      channelId: string,
      show: (messages: readonly { content: string }[]) => void,
      onFailure: (error: unknown) => void,
    ) => { load(): Promise<void>; loadEarlier(): Promise<void> };
    const { showMessages } = await run<{ showMessages: Show }>('joinNewest(');
    let losses = 1;
    const losing: typeof fetch = (input, init) =>
      new Request(input).url.includes('listMessages') && losses-- > 0
        ? Promise.reject(new TypeError('fetch failed'))
        : fetch(input, init);
    const client = createTandemClient({ url: app.url, fetch: losing });
    await signIn(client);
    const { id: channelId } = await client.api.chat.createChannel.mutate({ name: 'Tea', ownerId: ann.id });
    const post = (content: string) => app.tandem.services.chat.post({ channelId, senderId: ann.id, content });
    for (let n = 1; n <= 60; n++) await post(String(n));
    const chat = createChatClient({ url: app.url, client });
    let shown: string[] = [];
    let onFailure = (_error: unknown) => {};
    const failure = new Promise((resolve) => {
      onFailure = resolve;
    });
    const { load, loadEarlier } = showMessages(
      { client, chat, readerId: ann.id },
      channelId,
      (messages) => (shown = messages.map(({ content }) => content)),
      (error) => onFailure(error),
    );
    await failure;
    await load();
    await expect.poll(() => shown, PATIENCE).toHaveLength(50);
    await loadEarlier();
    await post('61');
    await expect.poll(() => shown, PATIENCE).toEqual(Array.from({ length: 61 }, (_, n) => String(n + 1)));
    chat.close();
  });

  it('shows an upload', async () => {
    interface Icons {
      client: TandemClient;
      setIcon(channelId: string, file: File, signal: AbortSignal): Promise<{ icon: { type: string } | null }>;
    }
    const { client, setIcon } = await run<Icons>('uploadFile(');
    await signIn(client);
    const { id: channelId } = await client.api.chat.createChannel.mutate({ name: 'Tea', ownerId: ann.id });
    const file = new Blob(['a picture'], { type: 'image/png' }) as File;
    expect(await setIcon(channelId, file, new AbortController().signal)).toMatchObject({ icon: { type: 'image/png' } });
    await expect(setIcon(channelId, file, AbortSignal.abort())).rejects.toThrow('aborted');
  });

  it('shows a sign-in with a second step', async () => {
    await using withMfa = await startTestServer({ mfaEnabled: true });
    type Ask = (factors: string[]) => Promise<string>;
    type SignIn = (email: string, password: string, askForCode: Ask) => Promise<string>;
    const { signIn: signInWithCode } = await run<{ signIn: SignIn }>('askForCode', withMfa);
    const askForCode = vi.fn<Ask>(async () => (await withMfa.mail.next(ann.email)).code ?? '');
    expect(await signInWithCode(ann.email, PASSWORD, askForCode)).toBe(ann.id);
    expect(askForCode).toHaveBeenCalledWith([]);
  });

  it('shows a sign-up through a provider', async () => {
    await using google = await startOidcProvider({ names: ['google'] });
    const redirectUrls = ['https://app.example.org/welcome'];
    await using withProvider = await startTestServer({ providers: { google: google.settings }, redirectUrls });
    const browser = createBrowser(withProvider);
    const bar = { href: '', search: '', pathname: '', assign: (address: string) => void (bar.href = address) };
    vi.stubGlobal('location', bar);
    // as a browser does with `credentials: 'include'`
    const bare = fetch;
    vi.stubGlobal('fetch', (address: string | URL, { headers, ...init }: RequestInit = {}) =>
      bare(address, { ...init, headers: { ...(headers as object), cookie: browser.cookiesFor(String(address)) } }),
    );
    vi.stubGlobal('history', { replaceState: (_state: null, _title: string, address: string) => void (bar.href = address) });
    interface Visit {
      goToProvider(provider: string, purpose: string): void;
      comeBack(): Promise<string>;
    }
    const { goToProvider, comeBack } = await run<Visit>('goToProvider', withProvider);

    goToProvider('google', 'oauth-signup');
    const account = newOidcAccount();
    const callback = await google.visit(browser, await browser.goTo(bar.href), { account });
    const { search, pathname } = new URL(await browser.goTo(callback));
    Object.assign(bar, { search, pathname });
    const id = await comeBack();
    expect(await withProvider.tandem.services.identities.get(id)).toMatchObject({ email: account.email });
    expect(bar.href).toBe('/welcome');
  });

  it('shows how to keep tokens', async () => {
    const kept = new Map<string, string>();
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    });
    const { client: before } = await run<{ client: TandemClient }>('localStorage');
    await signIn(before);
    const { client: after } = await run<{ client: TandemClient }>('localStorage');
    expect(await after.api.notifications.unreadCount.query({ identityId: ann.id })).toEqual({ unread: 0 });
    await after.signOut();
    expect([...kept]).toEqual([]);
  });
});

describe('docs/list-queries.md', () => {
  it('has an example with the documented answer', async () => {
    interface Queries {
      client: TandemClient;
      unreadOf(identityId: string): Promise<unknown>;
      countsOf(identityId: string): Promise<unknown>;
    }
    const { client, unreadOf, countsOf } = await run<Queries>('queryOf', app, 'docs/list-queries.md');
    const { id } = await signIn(client, await app.signUp());
    const told = await app.tandem.services.notifications.notifyMany(Array.from({ length: 21 }, () => ({ receiverId: id })));
    await client.api.notifications.markRead.mutate({ notificationId: told[3]?.id ?? '' });
    expect(await unreadOf(id)).toEqual({ newest: told[20]?.createdAt });
    expect(await countsOf(id)).toEqual(['false: 20', 'true: 1']);
  });
});

/** A front end's environment: the built declarations, a browser's library, no Node types. */
const FRONT_END = {
  strict: true,
  noEmit: true,
  target: 'es2023',
  lib: ['es2023', 'dom'],
  types: [] as string[],
  module: 'esnext',
  moduleResolution: 'bundler',
  moduleDetection: 'force',
  jsx: 'react-jsx',
};

/** Compiles only where the types are the server's, not `any`. */
const TYPED_CALLS = `
import { createTandemClient, uploadFile, type RouterOutputs } from '@tandem/client';
const { api } = createTandemClient({ url: '' });
const page: RouterOutputs['notifications']['list'] = await api.notifications.list.query({ identityId: '' });
export const total: number = page.metadata.pagination.total;
// @ts-expect-error a number
export const text: string = page.metadata.pagination.total;
// @ts-expect-error the id is missing
await api.notifications.list.query({});
// @ts-expect-error there is none such
await api.nothing.at.all();
// @ts-expect-error an icon is a channel's
await uploadFile(api.chat.channelIconUploadUrl, { productId: '' }, new Blob());
// @ts-expect-error no address for files comes of it
await uploadFile(api.notifications.unreadCount, { identityId: '' }, new Blob());
`;

/**
 * Compiles only where the client's declarations say of each procedure and list what the services' say. Both are written
 * out, since an intersection and the object that it makes are not identical.
 */
const SAME_TYPES = `
import type { AppRouter, queryOf } from '@tandem/client';
import type * as server from '@tandem/services';

type Out<T> = T extends AsyncIterable<infer Event>
  ? { events: Out<Event> }
  : T extends object ? (T extends infer O ? { [K in keyof O]: Out<O[K]> } : never) : T;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Procedures<Record> = {
  [Name in keyof Record]: Record[Name] extends { _def: { type: infer Type; $types: { input: infer Input; output: infer Output } } }
    ? { type: Type; input: Out<Input>; output: Out<Output> }
    : Procedures<Record[Name]>;
};
type Server = Procedures<server.AppRouter['_def']['record']>;

export const procedures: Same<Procedures<AppRouter['_def']['record']>, Server> = true;
export const lists: Same<Parameters<typeof queryOf>[0], keyof server.ListShapes> = true;
// @ts-expect-error without a service they are not the same
export const fewer: Same<Omit<Server, 'auth'>, Server> = true;
`;

/** Compiles modules as a front end would, and returns the compiler's errors. */
async function compileFrontEnd(
  modules: Record<string, string>,
  options: Partial<typeof FRONT_END> & { skipLibCheck?: true } = {},
): Promise<string> {
  const above = path.join(ROOT, 'packages/client/node_modules');
  await mkdir(above, { recursive: true });
  const dir = await mkdtemp(path.join(above, '.front-end-'));
  try {
    await writeFile(path.join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...FRONT_END, ...options } }));
    for (const [name, code] of Object.entries(modules)) await writeFile(path.join(dir, name), code);
    return await compile(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
}

it('samples compile against the built declarations, where everything is typed', async () => {
  const samples = [...samplesOf(CLIENTS), ...samplesOf('docs/list-queries.md'), TYPED_CALLS];
  expect(samples.length).toBeGreaterThan(7);
  expect(await compileFrontEnd(Object.fromEntries(samples.map((code, at) => [`sample-${at}.ts`, code])))).toBe('');
});

it('the sample of @tandem/react compiles', async () => {
  const [sample = '', ...others] = samplesOf('packages/react/README.md', 'tsx');
  expect([sample.includes('TandemProvider'), others]).toEqual([true, []]);
  const wrong = '// @ts-expect-error no such procedure\nexport const useNonsense = () => useTandemQuery("no.such", {});';
  expect(await compileFrontEnd({ 'sample.tsx': `${sample}\n${wrong}` })).toBe('');
});

it.each(['vue', 'svelte'])('the samples of docs/%s.md compile, the scripts of components too', async (framework) => {
  const document = `docs/${framework}.md`;
  const modules = samplesOf(document);
  const [component = ''] = samplesOf(document, framework);
  const [, script = ''] = /<script[^>]*>([\s\S]*)<\/script>/.exec(component) ?? [];
  const [tandem = '', live = ''] = modules;
  expect([modules.length, script.includes('queryOptions(')]).toEqual([2, true]);
  // brings the functions that components have without an import
  const globals = `import '${framework}';`;
  const wrong = "// @ts-expect-error no such procedure\nqueryOptions(client, 'no.such', {});";
  const files = { 'tandem.ts': tandem, 'live.ts': live, 'component.ts': `${script}\n${wrong}`, 'globals.ts': globals };
  expect(await compileFrontEnd(files, { skipLibCheck: true })).toBe('');
});

it('the built client has the types of the server’s procedures, neither more nor less', async () => {
  expect(await compileFrontEnd({ 'same.ts': SAME_TYPES }, { types: ['node'], skipLibCheck: true })).toBe('');
});
