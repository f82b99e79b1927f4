import { fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it, vi } from 'vitest';
import { createClient, newAccount } from '../test/clients.js';
import { createPeople } from './people.js';

const app = fixture(startTestServer);

/** A signed-in client with a profile, and people whom it does not know. */
async function signedIn() {
  const { client, requests, count } = createClient(app);
  const { id } = await client.signUp(newAccount());
  await client.api.profiles.create.mutate({ identityId: id, name: 'Ann' });
  const strangers = Array.from({ length: 150 }, () => crypto.randomUUID());
  return { client, id, strangers, requests, asked: () => count('people.list') };
}

describe('people', () => {
  it('who are asked for in one tick share a request for each hundred, and are asked for once', async () => {
    const { client, id, strangers, asked } = await signedIn();
    const people = createPeople(client);
    const [card, ...others] = await Promise.all([id, ...strangers, id].map((one) => people.get(one)));
    expect(card).toMatchObject({ id, name: 'Ann', avatarUrl: null });
    expect(others.pop()).toEqual(card);
    expect(others).toEqual(strangers.map(() => null));
    // two calls, that the client sends in one request
    expect(asked()).toBe(1);
    expect(await people.get(id)).toEqual(card);
    expect(asked()).toBe(1);
  });

  it('are kept for a while, and until they are forgotten', async () => {
    const { client, id, asked } = await signedIn();
    const people = createPeople(client, { keepMs: 60_000 });
    await people.get(id);
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 59_000);
    await people.get(id);
    expect(asked()).toBe(1);
    now.mockReturnValue(Date.now() + 2000);
    await people.get(id);
    expect(asked()).toBe(2);
    now.mockRestore();
    people.forget(id);
    await people.get(id);
    expect(asked()).toBe(3);
    people.forget();
    await people.get(id);
    expect(asked()).toBe(4);
  });

  it('answer all who ask in one tick, also when they are forgotten in between', async () => {
    const { client, id, asked } = await signedIn();
    const people = createPeople(client);
    const before = people.get(id);
    people.forget(id);
    const cards = await Promise.all([before, people.get(id)]);
    expect(cards).toMatchObject([{ id }, { id }]);
    expect(asked()).toBe(1);
  });

  it('whose request failed are asked for again', async () => {
    let fails = false;
    const { client } = createClient(app, {
      before: ({ procedures }) => {
        if (fails && procedures.includes('people.list')) throw new TypeError('cannot be reached');
      },
    });
    const { id } = await client.signUp(newAccount());
    const people = createPeople(client);
    fails = true;
    await expect(people.get(id)).rejects.toThrow('cannot be reached');
    fails = false;
    expect(await people.get(id)).toMatchObject({ id });
  });

  it('are forgotten, oldest first, beyond a thousand', async () => {
    const { client, id, asked } = await signedIn();
    const people = createPeople(client);
    await people.get(id);
    await Promise.all(Array.from({ length: 1000 }, () => people.get(crypto.randomUUID())));
    const before = asked();
    await people.get(id);
    expect(asked()).toBe(before + 1);
  });
});
