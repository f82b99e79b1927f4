import { createInProcessBus } from '@tandem/core';
import { isCommand, openStream, startStoreProxy, startTestServer, type Frame, type StoreCommand } from '@tandem/testing';
import { expect, it } from 'vitest';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** A server whose bus says that it has missed something when a test says so. */
async function startMissing(mongodbUri?: string) {
  const bus = createInProcessBus(SILENT);
  const resumed = new Set<() => void>();
  const here = await startTestServer({
    ...(mongodbUri !== undefined && { mongodbUri }),
    code: {
      bus: {
        publish: bus.publish,
        subscribe(topic, handler, onResumed) {
          if (onResumed) resumed.add(onResumed);
          return bus.subscribe(topic, handler);
        },
      },
    },
  });
  const resume = () => {
    for (const one of resumed) one();
  };
  return { here, resume };
}

it('after a gap also what was created before the last notification, and was stored unheard, is told', async () => {
  const { here: app, resume } = await startMissing();
  await using here = app;
  // what it writes is heard nowhere else
  await using there = await startTestServer({ clock: here.clock });
  const ann = await here.signUp();
  await using stream = await openStream(here.url, '/notifications/listen', ann.credentials);
  await stream.next('ready');
  const unheard = await there.tandem.services.notifications.notify(ann.id, { note: 'unheard' });
  here.clock.advance(6000);
  await here.tandem.services.notifications.notify(ann.id, { note: 'heard' });
  await stream.next('notification.created');
  resume();
  const isUnheard = ({ notification }: Frame) => (notification as { id: string }).id === unheard.id;
  expect(await stream.next('notification.created', isUnheard)).toMatchObject({ notification: unheard });
});

it('after a gap nothing is told again that was heard since the gap before, or that was created before that', async () => {
  const { here: app, resume } = await startMissing();
  await using here = app;
  const ann = await here.signUp();
  await using stream = await openStream(here.url, '/notifications/listen', ann.credentials);
  await stream.next('ready');
  const notes = () => stream.frames.flatMap(({ notification }) => (notification as { note: string } | undefined)?.note ?? []);
  for (const note of ['long ago', 'last']) {
    await here.tandem.services.notifications.notify(ann.id, { note });
    await stream.next('notification.created');
    here.clock.advance(6000);
  }
  for (let gap = 0; gap < 2; gap++) {
    resume();
    await stream.next('notifications.read');
    expect(notes()).toEqual(['long ago', 'last']);
    here.clock.advance(6000);
  }
});

it('a stream reads the store after a thousand notifications, and tells none again', async () => {
  const { here: app } = await startMissing();
  await using here = app;
  const ann = await here.signUp();
  await using stream = await openStream(here.url, '/notifications/listen', ann.credentials);
  await stream.next('ready');
  const many = Array.from({ length: 1000 }, () => ({ receiverId: ann.id }));
  await here.tandem.services.notifications.notifyMany(many);
  expect(await stream.next('notifications.read')).toMatchObject({ unread: many.length });
  expect(stream.frames.filter(({ type }) => type === 'notification.created')).toHaveLength(many.length);
});

/** A server with an open stream, of whose store the next read that a test names fails. */
async function startFailing() {
  const base = await startTestServer();
  const proxy = await startStoreProxy(base.mongodbUri);
  const { here, resume } = await startMissing(proxy.uri);
  const ann = await here.signUp();
  const stream = await openStream(here.url, '/notifications/listen', ann.credentials);
  await stream.next('ready');
  const fail = (which: (command: StoreCommand) => boolean) =>
    proxy.answer(which, { ok: 0, code: 8, codeName: 'UnknownError', errmsg: 'refused' }, 1);
  return {
    here,
    there: base,
    resume,
    ann,
    stream,
    proxy,
    fail,
    async [Symbol.asyncDispose]() {
      for (const one of [stream, here, proxy, base]) await one[Symbol.asyncDispose]();
    },
  };
}

it('what came during a gap is told although the first read of it fails and something is heard meanwhile', async () => {
  await using world = await startFailing();
  const { here, there, resume, ann, stream, fail } = world;
  const unheard = await there.tandem.services.notifications.notify(ann.id, { note: 'unheard' });
  here.clock.advance(6000);
  const failed = fail(isCommand('notifications.find'));
  resume();
  await failed;
  const heard = await here.tandem.services.notifications.notify(ann.id, { note: 'heard' });
  const isOne = (id: string) => (frame: Frame) => (frame['notification'] as { id: string }).id === id;
  await stream.next('notification.created', isOne(heard.id));
  expect(await stream.next('notification.created', isOne(unheard.id))).toMatchObject({ notification: unheard });
});

it('however often events are lost while the store is read, it is read once more', async () => {
  await using world = await startFailing();
  const { here, resume, ann, stream, proxy } = world;
  const { id } = await here.tandem.services.notifications.notify(ann.id);
  const isFind = isCommand('notifications.find');
  const find = proxy.hold(isFind);
  resume();
  await find.reached;
  for (let n = 0; n < 10; n++) resume();
  // is told after all that was asked for before it
  await ann.rest('POST', `/notifications/${id}/read`).expect(204);
  find.release();
  await stream.next('notifications.read', ({ ids }) => ids !== undefined);
  expect(proxy.commands.filter(isFind)).toHaveLength(2);
});

it('that something was read is told although the first count of what is unread fails', async () => {
  await using world = await startFailing();
  const { here, ann, stream, fail } = world;
  const { id } = await here.tandem.services.notifications.notify(ann.id);
  await stream.next('notification.created');
  const failed = fail(isCommand('notifications.aggregate'));
  await ann.rest('POST', `/notifications/${id}/read`).expect(204);
  await failed;
  expect(await stream.next('notifications.read')).toMatchObject({ unread: 0 });
});
