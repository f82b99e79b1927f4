import { createInProcessBus } from '@tandem/core';
import { openStream, startTestServer, type Frame } from '@tandem/testing';
import { expect, it } from 'vitest';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

it('after a gap also what was created before the last notification, and was stored unheard, is told', async () => {
  const bus = createInProcessBus(SILENT);
  const resumed = new Set<() => void>();
  await using here = await startTestServer({
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
  // what it writes is heard nowhere else
  await using there = await startTestServer({ clock: here.clock });
  const ann = await here.signUp();
  await using stream = await openStream(here.url, '/notifications/listen', ann.credentials);
  await stream.next('ready');
  const unheard = await there.tandem.services.notifications.notify(ann.id, { note: 'unheard' });
  here.clock.advance(4000);
  await here.tandem.services.notifications.notify(ann.id, { note: 'heard' });
  await stream.next('notification.created');
  for (const resume of resumed) resume();
  const isUnheard = ({ notification }: Frame) => (notification as { id: string }).id === unheard.id;
  expect(await stream.next('notification.created', isUnheard)).toMatchObject({ notification: unheard });
});
