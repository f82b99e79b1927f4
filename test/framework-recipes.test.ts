import { queryKey, type ChatMessage, type Notification } from '@tandem/client';
import { PASSWORD, PATIENCE, fixture, startTestServer } from '@tandem/testing';
import type { QueryClient } from '@tanstack/query-core';
import { compile as compileSvelte } from 'svelte/compiler';
import { get, type Readable } from 'svelte/store';
import { afterEach, expect, it, vi } from 'vitest';
import { effectScope, type Ref } from 'vue';
import { compileScript, compileTemplate, parse } from 'vue/compiler-sfc';
import { WebSocket } from 'ws';
import { runModules, samplesOf } from './samples.js';

const app = fixture(startTestServer);
afterEach(() => vi.unstubAllGlobals());

interface Shared {
  queryClient: QueryClient;
  signIn(email: string, password: string): Promise<void>;
  signOut(): Promise<void>;
}
/** What a component shows while it lives. */
interface Shown {
  notifications(): readonly Notification[];
  messages(): readonly ChatMessage[];
  leave(): void;
}
/** A recipe, used as a component of its framework would. */
interface Recipe extends Shared {
  whoIsSignedIn(): string | undefined;
  show(channelId: string): Shown;
}

function asVue(tandem: unknown, live: unknown): Recipe {
  const { identityId, ...shared } = tandem as Shared & { identityId: Ref<string | undefined> };
  const { useNotifications, useChannel } = live as {
    useNotifications(): Ref<readonly Notification[]>;
    useChannel(channelId: string): { messages: Ref<readonly ChatMessage[]>; isLive: Ref<boolean> };
  };
  return {
    ...shared,
    whoIsSignedIn: () => identityId.value,
    show(channelId) {
      const scope = effectScope();
      const [notifications, { messages, isLive }] = scope.run(() => [useNotifications(), useChannel(channelId)] as const)!;
      return {
        notifications: () => notifications.value,
        messages: () => (isLive.value ? messages.value : []),
        leave: () => scope.stop(),
      };
    },
  };
}

function asSvelte(tandem: unknown, live: unknown): Recipe {
  const { identityId, ...shared } = tandem as Shared & { identityId: Readable<string | undefined> };
  const { notifications, messagesOf } = live as {
    notifications: Readable<readonly Notification[]>;
    messagesOf(channelId: string): Readable<readonly ChatMessage[]>;
  };
  return {
    ...shared,
    whoIsSignedIn: () => get(identityId),
    show(channelId) {
      let [told, said]: [readonly Notification[], readonly ChatMessage[]] = [[], []];
      const ends = [notifications.subscribe((all) => (told = all)), messagesOf(channelId).subscribe((all) => (said = all))];
      return { notifications: () => told, messages: () => said, leave: () => ends.forEach((end) => end()) };
    },
  };
}

it.each([
  ['vue', asVue],
  ['svelte', asSvelte],
])('docs/%s.md: what comes is shown while somebody looks, and signing out leaves nothing', async (framework, asRecipe) => {
  const sockets: WebSocket[] = [];
  const heard = new Set<WebSocket>();
  // Node has one from 22 on
  vi.stubGlobal(
    'WebSocket',
    class extends WebSocket {
      constructor(address: string) {
        super(address);
        sockets.push(this);
        this.once('message', () => heard.add(this));
      }
    },
  );
  const [tandem = '', live = ''] = samplesOf(`docs/${framework}.md`);
  const code = tandem
    .replace('https://api.example.org', app.url)
    // has the same, beside components that only a bundler can read
    .replace('@tanstack/svelte-query', '@tanstack/query-core');
  const modules = { 'tandem.ts': code, 'live.ts': live };
  const { 'tandem.ts': shared, 'live.ts': streams } = await runModules(modules);
  const recipe = asRecipe(shared, streams);

  const ann = await app.signUp();
  const { id, email } = ann;
  await recipe.signIn(email, PASSWORD);
  expect(recipe.whoIsSignedIn()).toBe(id);
  const { chat, notifications } = app.tandem.services;
  const { id: channelId } = await ann.rest('POST', '/channels', { name: 'Tea', ownerId: id }).expect<{ id: string }>(201);
  await chat.post({ channelId, senderId: id, content: 'before' });
  const shown = recipe.show(channelId);
  await expect.poll(() => shown.messages().map(({ content }) => content), PATIENCE).toEqual(['before']);
  await expect.poll(() => heard.size, PATIENCE).toBe(2);
  for (const kind of ['one', 'two']) await notifications.notify(id, { kind });
  await chat.post({ channelId, senderId: id, content: 'after' });
  await expect.poll(() => shown.messages().map(({ content }) => content), PATIENCE).toEqual(['before', 'after']);
  await expect.poll(() => shown.notifications().map(({ kind }) => kind), PATIENCE).toEqual(['two', 'one']);
  expect(sockets).toHaveLength(2);
  shown.leave();
  await expect.poll(() => sockets.every(({ readyState }) => readyState === WebSocket.CLOSED), PATIENCE).toBe(true);

  recipe.queryClient.setQueryData(queryKey('notifications.list'), 'of this person');
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('away')));
  await expect(recipe.signOut()).rejects.toThrow('cannot be reached');
  expect([recipe.whoIsSignedIn(), recipe.queryClient.getQueryCache().getAll()]).toEqual([undefined, []]);
});

it('the components of the recipes compile with their markup', () => {
  const [svelte = ''] = samplesOf('docs/svelte.md', 'svelte');
  expect(compileSvelte(svelte, { generate: 'client' }).warnings).toEqual([]);
  const [vue = ''] = samplesOf('docs/vue.md', 'vue');
  const { descriptor, errors } = parse(vue);
  const { bindings } = compileScript(descriptor, { id: 'sample' });
  const template = compileTemplate({
    source: descriptor.template?.content ?? '',
    filename: 'sample.vue',
    id: 'sample',
    compilerOptions: { bindingMetadata: bindings ?? {} },
  });
  expect([errors, template.errors, template.tips]).toEqual([[], [], []]);
});
