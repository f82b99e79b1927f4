import { FACES, fixture, startStoreProxy, startTestServer, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';

/** How long a server looks for its store: much less than the deadline of a request, which would answer the same. */
const GIVE_UP_MS = 1000;

const home = fixture(startTestServer);
const proxy = fixture(() => startStoreProxy(home.mongodbUri));
const server = fixture(() => startTestServer({ mongodbUri: `${proxy.uri}&serverSelectionTimeoutMS=${GIVE_UP_MS}` }));

it('while the store is away nobody is told that they may not: rules answer 503, to who may and to who may not, on both faces', async () => {
  const [ann, bob] = [await server.signUp(), await server.signUp()];
  const profile = await ann.rest('POST', '/profiles', { identityId: ann.id, name: 'Ann' }).expect<{ id: string }>(201);
  const organization = { name: 'Bakery', description: 'Bread', contact_email: 'bread@example.org' };
  const bakery = await ann.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  const { id: notificationId } = await server.tandem.services.notifications.notify(ann.id, {});
  /** Statuses of what asks the store who may, by any of several rules and in a write. */
  const ask = (person: Person) =>
    Promise.all(
      FACES.flatMap((face) => [
        person.call(face, 'profiles.patch', { profileId: profile.id, name: 'Ann' }),
        person.call(face, 'orders.listOfOrganization', { organizationId: bakery.id }),
        person.call(face, 'notifications.markRead', { notificationId }),
      ]).map(async (outcome) => ((outcome) => (outcome.ok ? 200 : outcome.status))(await outcome)),
    );
  const all = (status: number) => Array.from({ length: 3 * FACES.length }, () => status);

  // whose session has been seen in the last second is known without the store, so that the rules are the first to miss it
  expect([await ask(ann), await ask(bob)]).toEqual([all(200), all(403)]);
  await proxy.close();
  expect(await Promise.all([ask(ann), ask(bob)])).toEqual([all(503), all(503)]);
});
