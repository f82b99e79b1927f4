import { Parser } from '@asyncapi/parser';
import { CLOSE } from '@tandem/core';
import { createTandem } from '@tandem/services';
import { openStorage } from '@tandem/storage';
import { TEST_SECRETS, fixture, openStream, startTestServer } from '@tandem/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';

interface Streams {
  channels: Record<string, { address: string; 'x-close-codes': { code: number; reason: string }[] }>;
  operations: Record<string, { messages: { $ref: string }[]; security: { $ref: string }[] }>;
  components: { messages: Record<string, { payload: object; summary?: string }>; securitySchemes: object };
}

const app = fixture(startTestServer);
let text: string;
let document: Streams;
beforeAll(async () => {
  text = await (await fetch(`${app.url}/asyncapi.json`)).text();
  document = JSON.parse(text) as Streams;
});
/** Errors and warnings, severities 0 and 1. */
async function problemsOf(given: string): Promise<string[]> {
  const { diagnostics } = await new Parser().parse(given);
  const all = diagnostics.map(({ severity, path, message }) => `${severity} ${path.join('.')}: ${message}`);
  return all.filter((problem) => /^[01] /.test(problem));
}

describe('the AsyncAPI document', () => {
  it('is valid', async () => {
    expect(await problemsOf(text)).toEqual([]);
    expect(await problemsOf(text.replace('#/channels/messages"', '#/channels/nothing"'))).not.toEqual([]);
  });

  it('has both streams, every frame with what it is for, and every close code', () => {
    const { channels, operations, components } = document;
    expect(Object.values(channels).map(({ address }) => address)).toEqual(['/messages/listen', '/notifications/listen']);
    const counts = Object.entries(operations).map(([name, { messages }]) => [name, messages.length]);
    expect(Object.fromEntries(counts)).toEqual({
      'messages.receive': 6,
      'messages.send': 29,
      'notifications.receive': 1,
      'notifications.send': 5,
    });
    const bare = Object.entries(components.messages).filter(([, { summary }]) => !summary);
    expect(bare.map(([name]) => name)).toEqual([]);
    const codes = channels['messages']?.['x-close-codes'].map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set([...Object.values(CLOSE).map(([code]) => code), 1002, 1007, 1009]));
  });

  it('describes frames as the server sends them', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'asyncapi', ...document });
    const ann = await app.signUp();
    const { id: channelId } = await ann.rest('POST', '/channels', { name: 'Tea', ownerId: ann.id }).expect<{ id: string }>(201);
    const stream = await openStream(app.url, '/messages/listen', ann.credentials);
    const expectFrame = async (type: string) => {
      const frame = await stream.next(type);
      const isDescribed = ajv.validate(`asyncapi#/components/messages/messages.server.${type}/payload`, frame);
      expect(isDescribed, ajv.errorsText()).toBe(true);
      return frame;
    };
    await expectFrame('ready');
    const subscribe = { type: 'subscribe', channelId, expand: ['sender'] };
    expect(ajv.validate('asyncapi#/components/messages/messages.client.subscribe/payload', subscribe)).toBe(true);
    stream.send(subscribe);
    await expectFrame('subscribed');
    stream.send({ type: 'message.create', channelId, content: 'Tea?', clientId: 'one' });
    await expectFrame('ack');
    await ann.rest('POST', '/messages', { channelId, senderId: ann.id, content: 'More?' }).expect(201);
    expect(await expectFrame('message.created')).toMatchObject({ message: { sender: { id: ann.id } } });
    stream.send({ type: 'message.create', channelId, content: '', clientId: 'two' });
    await expectFrame('error');
    await stream.close();
  });

  it('has only the streams of the exposed services, in their auth mode, at their server', async () => {
    expect(Object.keys(document.components.securitySchemes)).toEqual(['bearer', 'ticket']);
    const storage = await openStorage({ uri: app.mongodbUri });
    const tandem = await createTandem({
      storage,
      authSecrets: TEST_SECRETS,
      services: ['auth', 'notifications'],
      authMode: 'cookie',
      allowedOrigins: ['https://app.example.org'],
      cookies: { prefix: '__Host-' },
    });
    const about = { title: 'T', description: 'D', version: '1', url: 'https://api.example.org/shop' };
    const part = tandem.asyncApi(about) as unknown as Streams;
    await tandem.close();
    await storage.close();
    expect(part).toMatchObject({
      servers: { tandem: { host: 'api.example.org', pathname: '/shop', protocol: 'wss' } },
      components: { securitySchemes: { cookie: { in: 'cookie', name: '__Host-accessToken' } } },
    });
    expect(Object.keys(part.channels)).toEqual(['notifications']);
    const ways = ['cookie', 'bearer', 'ticket'].map((scheme) => ({ $ref: `#/components/securitySchemes/${scheme}` }));
    expect(Object.values(part.operations).map(({ security }) => security)).toEqual([ways, ways]);
  });
});
