import { createInProcessBus } from '@tandem/core';
import { openStream, startTestServer, type Frame } from '@tandem/testing';
import { expect, it } from 'vitest';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** A server whose bus says that it has missed something when a test says so. */
async function startMissing() {
  const bus = createInProcessBus(SILENT);
  const resumed = new Set<() => void>();
  const here = await startTestServer({
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
  here.clock.advance(4000);
  await here.tandem.services.notifications.notify(ann.id, { note: 'heard' });
  await stream.next('notification.created');
  resume();
  const isUnheard = ({ notification }: Frame) => (notification as { id: string }).id === unheard.id;
  expect(await stream.next('notification.created', isUnheard)).toMatchObject({ notification: unheard });
});

it('after a gap nothing is told again that was created long before what was told last, or before the last gap', async () => {
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
    expect(notes()).toEqual(['long ago', 'last', 'last']);
    here.clock.advance(6000);
  }
});
