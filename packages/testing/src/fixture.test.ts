import { describe, expect, it } from 'vitest';
import { fixture } from './fixture.js';

const events: string[] = [];

/** Notes when it is made, and when it is disposed of. */
async function make(name: string) {
  await Promise.resolve();
  events.push(`${name} made`);
  const dispose = async () => void events.push(`${name} disposed of`);
  return { name, [Symbol.asyncDispose]: dispose };
}

describe('the fixtures of a describe', () => {
  const one = fixture(() => make('one'));
  const two = fixture(() => make(`two of ${one.name}`));
  const plain = fixture(() => ({ of: two.name }));

  it('are made before its first test, each from those above it', () => {
    expect([one.name, two.name, plain.of]).toEqual(['one', 'two of one', 'two of one']);
  });

  it('are shared by its tests', () => {
    expect(events).toEqual(['one made', 'two of one made']);
  });
});

it('fixtures are disposed of after the last test, in the opposite order', () => {
  expect(events.slice(2)).toEqual(['two of one disposed of', 'one disposed of']);
});
