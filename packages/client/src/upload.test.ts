import { createTestClock, fixture, makeFolder, startS3Server, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createClient, failureOf, newAccount } from '../test/clients.js';
import { UploadError, uploadFile, type TandemClient } from './index.js';
import { createUpload } from './upload.js';

const picture = (type = 'image/png') => new Blob(['a picture'], { type });

describe.each(['disk', 's3'] as const)('uploads to %s', (kind) => {
  const clock = createTestClock();
  const folder = fixture(makeFolder);
  const s3 = fixture(() => startS3Server(clock.now));
  const app = fixture(() => {
    const files = { url: kind === 'disk' ? 'disk:' : s3.url, pollMs: 3_600_000 };
    return startTestServer({ clock, dataDir: folder.path, files });
  });
  let api: TandemClient['api'];
  let channelId: string;
  beforeAll(async () => {
    const { client } = createClient(app);
    const { id: ownerId } = await client.signUp(newAccount());
    api = client.api;
    channelId = (await api.chat.createChannel.mutate({ name: 'Tea', ownerId })).id;
  });

  it('return what a record needs to show the file; its type is sent without parameters', async () => {
    const icon = await uploadFile(api.chat.channelIconUploadUrl, { channelId }, picture('image/png;name=a'));
    const channel = await api.chat.patchChannel.mutate({ channelId, icon });
    expect(channel.icon).toMatchObject({ type: 'image/png' });
    const shown = await fetch(channel.icon?.url ?? '');
    expect([shown.status, await shown.text()]).toEqual([200, 'a picture']);
  });

  it('fail as the procedure does, which requires type and size', async () => {
    const other = { channelId: crypto.randomUUID() };
    expect(await failureOf(uploadFile(api.chat.channelIconUploadUrl, other, picture()))).toMatchObject({ status: 403 });
    expect(
      await failureOf(uploadFile(api.chat.channelIconUploadUrl, { channelId }, new Blob([], { type: 'text/html' }))),
    ).toMatchObject({
      status: 400,
      message: 'Validation Error',
      data: [expect.stringContaining("'contentType'"), "query parameter 'contentLength' must be >= 1"],
    });
  });

  it('that may be tried again go on with the same address while the storage cannot be reached', async () => {
    let [asked, tries] = [0, 0];
    const query: typeof api.chat.channelIconUploadUrl.query = (input) => {
      asked += 1;
      return api.chat.channelIconUploadUrl.query(input);
    };
    const away: typeof fetch = (url, init) => (++tries < 3 ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init));
    const upload = createUpload({ query }, { channelId }, picture(), { fetch: away });
    for (let at = 0; at < 2; at++) await expect(upload()).rejects.toThrow('fetch failed');
    const { icon } = await api.chat.patchChannel.mutate({ channelId, icon: await upload() });
    expect([icon?.type, asked, tries]).toEqual(['image/png', 1, 3]);
  });

  it("fail with the storage's message when it refuses", async () => {
    const address = await api.chat.channelIconUploadUrl.query({ channelId, contentType: 'image/png', contentLength: 9 });
    clock.advance(16 * 60_000);
    const failing = uploadFile({ query: () => Promise.resolve(address) }, {}, picture());
    await expect(failing).rejects.toBeInstanceOf(UploadError);
    expect(await failureOf(failing)).toEqual({
      status: 403,
      message: kind === 'disk' ? 'Invalid or expired file address' : 'the storage answered 403',
      data: [],
      code: kind === 'disk' ? 'fileAddresses.notAllowed' : undefined,
    });
  });

  it('are aborted by a signal', async () => {
    const breaking = new AbortController();
    const failing = uploadFile(
      api.chat.channelIconUploadUrl,
      { channelId },
      new Blob([new Uint8Array(5e6)], { type: 'image/png' }),
      {
        signal: breaking.signal,
        fetch(url, init) {
          const sending = fetch(url, init);
          breaking.abort(new Error('no, another one'));
          return sending;
        },
      },
    );
    await expect(failing).rejects.toThrow('no, another one');
  });
});
