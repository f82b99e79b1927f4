import { createLists } from '@tandem/lists';
import { openStorage } from '@tandem/storage';
import { databaseOf, fixture } from '@tandem/testing';
import { describe, expect, it, vi } from 'vitest';
import { subscriptionModel } from '../chat/subscription.model.js';
import { createPairLookup } from './pairs.js';

const storage = fixture(async () => {
  const opened = await openStorage({ uri: databaseOf('pairs') });
  return Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() });
});
const ids = (count: number) => Array.from({ length: count }, () => crypto.randomUUID());

describe('a lookup of pairs', () => {
  it.each([
    [50, 100, 0],
    [51, 100, 1],
  ])('of %i places and %i people waits its turn with costly lists %i times', async (places, people, times) => {
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const lists = createLists({ storage, cursorSecrets: [new Uint8Array(32)], log });
    const read = vi.spyOn(lists, 'read');
    const lookUp = createPairLookup({ lists }, storage.model(subscriptionModel).collection);
    const [channelId, subscribedId] = [ids(places), ids(people)];
    expect(await lookUp('subscribedId', { channelId, subscribedId }, {})).toEqual([]);
    expect(read).toHaveBeenCalledTimes(times);
  });
});
