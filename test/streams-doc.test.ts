import { readFileSync, writeFileSync } from 'node:fs';
import { CLOSE, PROTOCOL_CLOSE } from '@tandem/core';
import { openStream, startTestServer, type TestStream } from '@tandem/testing';
import { expect, it } from 'vitest';

const FILE = new URL('../docs/streams.md', import.meta.url);
const [START, END] = ['<!-- transcript -->\n', '\n<!-- end -->'];

/** Replaces values that change each time by placeholders. */
function shorten(text: string, names: ReadonlyMap<string, string>): string {
  let short = text;
  for (const [id, name] of names) short = short.replaceAll(id, name);
  return short.replace(/"[0-9a-f]{8}-[0-9a-f-]{27}"/g, '"…"').replace(/"(createdAt|updatedAt)":"[^"]*"/g, '"$1":"…"');
}

it('docs/streams.md has a transcript that works as written', async () => {
  await using app = await startTestServer();
  const [ann, bob] = [await app.signUp(), await app.signUp()];
  const { id } = await ann.rest('POST', '/channels', { name: 'Tea', ownerId: ann.id }).expect<{ id: string }>(201);
  await ann.rest('POST', '/subscriptions', { channelId: id, subscribedId: bob.id }).expect(201);
  const names = new Map([[id, 'tea'], [ann.id, 'ann'], [bob.id, 'bob']]); // prettier-ignore
  const lines: string[] = [];
  const listen = async (name: string, person: typeof ann) => {
    const stream = await openStream(app.url, '/messages/listen', person.credentials);
    const send = (frame: object) => {
      lines.push(`${name} > ${JSON.stringify(frame)}`);
      stream.send(frame);
    };
    const see = async (type: string) => {
      const frame = await stream.next(type);
      lines.push(`${name} < ${JSON.stringify(frame)}`);
      return frame;
    };
    await see('ready');
    return { stream, send, see };
  };

  const a = await listen('ann', ann);
  a.send({ type: 'subscribe', channelId: id });
  await a.see('subscribed');
  const b = await listen('bob', bob);
  b.send({ type: 'subscribe', channelId: id, sinceSeq: 0 });
  await b.see('subscribed');
  await a.see('presence');
  b.send({ type: 'typing', channelId: id });
  await a.see('typing');
  b.send({ type: 'message.create', channelId: id, content: 'Is there tea?', clientId: 'bob-1' });
  const { message } = (await b.see('ack')) as unknown as { message: { id: string } };
  names.set(message.id, 'first');
  await a.see('message.created');
  a.send({ type: 'read', channelId: id, messageId: message.id });
  await b.see('read');
  a.send({ type: 'message.create', channelId: id, content: '', clientId: 'ann-1' });
  await a.see('error');
  // Bob is away for a while
  await b.stream.close();
  await a.see('presence');
  const request = async (name: string, person: typeof ann, method: 'PUT' | 'PATCH', path: string, body?: object) => {
    const { status } = await person.rest(method, path, body);
    lines.push(`${name} ${method} ${decodeURI(path)}${body ? ` ${JSON.stringify(body)}` : ''} ${status}`);
  };
  a.send({ type: 'message.create', channelId: id, content: 'Yes', clientId: 'ann-2', replyToId: message.id });
  const answer = (await a.see('message.created')) as unknown as { message: { id: string } };
  names.set(answer.message.id, 'second');
  await a.see('message.updated');
  await a.see('ack');
  await request('ann', ann, 'PUT', `/messages/${message.id}/reactions/${encodeURI('🍵')}`);
  await a.see('reaction.created');
  await request('ann', ann, 'PUT', `/messages/${message.id}/pin`);
  await a.see('pin.created');
  const again = await listen('bob', bob);
  again.send({ type: 'subscribe', channelId: id, sinceChange: 3 });
  for (const type of ['subscribed', 'message.created', 'message.updated', 'reaction.created', 'pin.created', 'replayed'])
    await again.see(type);
  again.send({ type: 'subscribe', self: true });
  await again.see('subscribed');
  await again.see('unread');
  await closeAll(a.stream, again.stream);

  const expected = `\n\`\`\`text\n${lines.map((line) => shorten(line, names)).join('\n')}\n\`\`\`\n`;
  const text = readFileSync(FILE, 'utf8');
  const [from, to] = [text.indexOf(START) + START.length, text.indexOf(END)];
  if (process.env.UPDATE_DOCUMENTS) writeFileSync(FILE, text.slice(0, from) + expected + text.slice(to));
  const shown = process.env.UPDATE_DOCUMENTS ? expected : text.slice(from, to);
  expect(shown).toBe(expected);
});

function closeAll(...streams: TestStream[]): Promise<void[]> {
  return Promise.all(streams.map((stream) => stream.close()));
}

it('docs/streams.md names every close code of a stream', () => {
  const text = readFileSync(FILE, 'utf8');
  const codes = [...Object.values(CLOSE), ...Object.values(PROTOCOL_CLOSE)].map(([code]) => code);
  for (const code of codes) expect(text).toContain(`| ${code} |`);
});
