import { openAsBlob } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { request, type ClientRequest } from 'node:http';
import { PATIENCE, fixture, isCommand, makeFolder, startStoreProxy, startTestServer, databaseOf } from '@tandem/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { createClient, newAccount } from '../test/clients.js';
import { createOutbox } from './chat-outbox.js';
import type { ChatMessage, StreamError } from './chat-types.js';
import { applyToOutgoing, createChatClient, isError, uploadFile, type OutgoingMessage } from './index.js';

const folder = fixture(makeFolder);
const proxy = fixture(() => startStoreProxy(databaseOf('outbox'), { as: 'MongoDB 8.0' }));
const app = fixture(() => startTestServer({ mongodbUri: proxy.uri, dataDir: folder.path }));
const ann = fixture(() => app.signUp());
const channel = fixture(() => ann.rest('POST', '/channels', { name: 'Tea', ownerId: ann.id }).expect<{ id: string }>(201));
const textOf = async ({ url }: { url: string }) => (await fetch(url)).text();

/** A chat client of Ann's. @returns it, with the states of its messages as they are told, and those it shows */
async function open() {
  const told: OutgoingMessage[] = [];
  const { client, tokens } = createClient(app);
  await tokens.save({ identityId: ann.id, accessToken: ann.accessToken, refreshToken: ann.refreshToken });
  const onOutgoing = (outgoing: OutgoingMessage) => void told.push(outgoing);
  const chat = createChatClient({ url: app.url, client, WebSocket, onOutgoing });
  onTestFinished(() => chat.close());
  return {
    chat,
    client,
    states: () => told.map(({ state }) => state),
    shown: () => told.reduce<OutgoingMessage[]>(applyToOutgoing, []),
  };
}

describe('a message on its way', () => {
  it('is pending until it is stored, and then sent', async () => {
    const { chat, states, shown } = await open();
    const sending = chat.send({ channelId: channel.id, content: 'Hello', clientId: 'one' });
    await expect.poll(shown, PATIENCE).toMatchObject([{ state: 'pending', clientId: 'one', content: 'Hello' }]);
    await sending;
    expect(states()).toEqual(['pending', 'sent']);
    expect(shown()).toEqual([]);
  });

  it('fails with the error of the server that refuses it, and can be sent again under its clientId', async () => {
    const { chat, states, shown } = await open();
    const message = { channelId: channel.id, content: '', clientId: 'two' };
    await chat.send(message).catch(() => {});
    expect(shown()).toMatchObject([{ state: 'failed', error: { message: 'Validation Error' } }]);
    await chat.send({ ...message, content: 'Hello' });
    expect(states()).toEqual(['pending', 'failed', 'pending', 'sent']);
  });

  it('fails where it is longer than the server takes, and holds up no other', async () => {
    const { chat, states } = await open();
    const channelId = channel.id;
    await expect(chat.send({ channelId, content: '茶'.repeat(30_000) })).rejects.toThrow('must NOT have more than 65536 bytes');
    await chat.send({ channelId, content: 'Short' });
    expect(states()).toEqual(['pending', 'failed', 'pending', 'sent']);
  });

  it('fails where its clientId is longer than the server repeats', async () => {
    const { chat, states } = await open();
    const message = { channelId: channel.id, content: 'Hello', clientId: 'x'.repeat(101) };
    await expect(chat.send(message)).rejects.toThrow('clientId must NOT have more than 100 characters');
    expect(states()).toEqual(['pending', 'failed']);
  });

  it('has the fields that its host declares', async () => {
    const fields = { messages: z.object({ mood: z.enum(['good', 'bad']) }) };
    await using host = await startTestServer({ code: { fields } });
    const { client } = createClient(host);
    const { id: ownerId } = await client.signUp(newAccount());
    const { id: channelId } = await client.api.chat.createChannel.mutate({ name: 'Tea', ownerId });
    const chat = createChatClient({ url: host.url, client, WebSocket });
    onTestFinished(() => chat.close());
    const { id: messageId } = await chat.send({ channelId, content: 'Hello', fields: { mood: 'good' } });
    expect(await client.api.chat.getMessage.query({ messageId })).toMatchObject({ content: 'Hello', mood: 'good' });
  });

  it('is sent where it was stored after it had been refused', async () => {
    const outbox = createOutbox({
      send: () => true,
      uploadOf: () => () => Promise.reject(new Error('no files')),
      onOutgoing() {},
    });
    const sending = outbox.add({ channelId: channel.id, content: 'Late', clientId: 'late' });
    await Promise.resolve();
    outbox.refuse('late', { type: 'error', message: 'Service is unavailable', clientId: 'late', retry: true } as StreamError);
    const stored = { id: 'stored' } as ChatMessage;
    outbox.acknowledge('late', stored);
    expect(await sending).toBe(stored);
    outbox.close(new Error('over'));
  });

  it('has its files uploaded, arrives with them, and holds up no other meanwhile', async () => {
    const { chat } = await open();
    const files = [new Blob(['one'], { type: 'text/plain' }), new Blob(['two'], { type: 'text/plain' })];
    const [withFiles, without] = await Promise.all([
      chat.send({ channelId: channel.id, content: 'Look', files }),
      chat.send({ channelId: channel.id, content: 'No files' }),
    ]);
    expect(await Promise.all(withFiles.attachments.map(textOf))).toEqual(['one', 'two']);
    expect(without.seq).toBe(withFiles.seq - 1);
  });

  it('arrives with files that were uploaded before, and with data of its own', async () => {
    const { chat, client } = await open();
    const { id: channelId } = channel;
    const file = new Blob(['tea'], { type: 'text/plain' });
    const uploaded = await uploadFile(client.api.chat.postedFileUploadUrl, { channelId }, file);
    const metadata = { name: 'tea.txt' };
    const sent = await chat.send({ channelId, content: 'Look', files: [uploaded], metadata });
    expect(sent.metadata).toEqual(metadata);
    expect(await Promise.all(sent.attachments.map(textOf))).toEqual(['tea']);
  });

  it('stays pending while the store is away when its file is uploaded', async () => {
    const { chat, states } = await open();
    const away = proxy.answer(isCommand('files.insert'), { ok: 0, code: 10107, errmsg: 'not primary' }, 2);
    const { attachments } = await chat.send({
      channelId: channel.id,
      content: 'Look',
      files: [new Blob(['one'], { type: 'text/plain' })],
    });
    await away;
    expect(attachments).toHaveLength(1);
    expect(states()).toEqual(['pending', 'sent']);
  });

  it('stays pending while an attempt to upload its file, which broke off, still holds the object', async () => {
    const { chat, states } = await open();
    const own = globalThis.fetch;
    let broken: ClientRequest | undefined;
    const refusals: number[] = [];
    // the first attempt sends half of the file, and loses the network: the server does not notice
    const fetching = vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
      if (init?.method !== 'PUT') return own(url, init);
      if (!broken) {
        const leased = proxy.hold(isCommand('files.update'), 'after');
        broken = request(url as string, { method: 'PUT', headers: { 'content-type': 'text/plain', 'content-length': 4 } });
        broken.on('error', () => {});
        broken.write('te');
        await leased.reached;
        leased.release();
        throw new TypeError('fetch failed');
      }
      const answer = await own(url, init);
      if (!answer.ok) {
        refusals.push(answer.status);
        broken.destroy();
      }
      return answer;
    });
    onTestFinished(() => fetching.mockRestore());
    const files = [new Blob(['teas'], { type: 'text/plain' })];
    const { attachments } = await chat.send({ channelId: channel.id, content: 'Look', files });
    expect(refusals[0]).toBe(409);
    expect(await Promise.all(attachments.map(textOf))).toEqual(['teas']);
    expect(states()).toEqual(['pending', 'sent']);
  });

  it('fails when a file is refused, and arrives with the others when it is sent again', async () => {
    const { chat, states } = await open();
    const good = new Blob(['one'], { type: 'text/plain' });
    const message = { channelId: channel.id, content: 'Look', clientId: 'three' };
    const refusal = await chat.send({ ...message, files: [good, new Blob([''], { type: 'text/plain' })] }).catch((error: unknown) => error); // prettier-ignore
    expect(isError(refusal, 'request.invalid')).toBe(true);
    const { attachments } = await chat.send({ ...message, files: [good] });
    expect(await Promise.all(attachments.map(textOf))).toEqual(['one']);
    expect(states()).toEqual(['pending', 'failed', 'pending', 'sent']);
  });

  it('fails when its file was changed since it was chosen', async () => {
    const { chat, states } = await open();
    const path = `${folder.path}/chosen.txt`;
    await writeFile(path, 'one');
    const file = await openAsBlob(path, { type: 'text/plain' });
    await writeFile(path, 'changed');
    const sending = chat.send({ channelId: channel.id, content: 'Look', files: [file] });
    await expect(sending).rejects.toMatchObject({ cause: { name: 'NotReadableError' } });
    expect(states()).toEqual(['pending', 'failed']);
  });

  it('fails when the client is closed', async () => {
    const { chat, shown } = await open();
    const sending = chat.send({ channelId: channel.id, content: 'Hello' });
    chat.close();
    await expect(sending).rejects.toThrow('the client is closed');
    expect(shown()).toMatchObject([{ state: 'failed' }]);
    await expect(chat.send({ channelId: channel.id, content: 'Too late' })).rejects.toThrow('the client is closed');
  });
});
