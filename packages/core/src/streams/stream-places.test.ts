import { describe, expect, it } from 'vitest';
import { requestErrors } from '../errors.js';
import { createStreamPlaces, type StreamConnection } from './stream-places.js';

const newConnection = (): StreamConnection => ({ holder: '', subscriptions: 0 });
const expectTooMany = (action: () => void) => expect(action).toThrow(requestErrors.tooMany.message);

/** Connections of a holder, each with the given number of subscriptions. */
function open(places: ReturnType<typeof createStreamPlaces>, holder: string, subscriptions: number[]): StreamConnection[] {
  return subscriptions.map((count) => {
    const connection = newConnection();
    places.open(connection, holder);
    for (let n = 0; n < count; n++) places.subscribe(connection);
    return connection;
  });
}

describe('places of streams', () => {
  it('are limited to a hundred connections per holder', () => {
    const places = createStreamPlaces();
    const [first] = open(places, 'ann', Array<number>(100).fill(0)) as [StreamConnection];
    expectTooMany(() => places.checkConnection('ann'));
    expectTooMany(() => places.open(newConnection(), 'ann'));
    open(places, 'bob', [0]);
    places.close(first);
    open(places, 'ann', [0]);
    expectTooMany(() => places.checkConnection('ann'));
  });

  it('are limited to a thousand subscriptions per connection', () => {
    const places = createStreamPlaces();
    const [full, other] = open(places, 'ann', [1000, 0]) as [StreamConnection, StreamConnection];
    expectTooMany(() => places.subscribe(full));
    places.subscribe(other);
    places.unsubscribe(full);
    places.subscribe(full);
    expectTooMany(() => places.subscribe(full));
  });

  it('are limited to five thousand subscriptions per holder', () => {
    const places = createStreamPlaces();
    const [first, last] = open(places, 'ann', [999, 1000, 1000, 1000, 1000, 1]) as [StreamConnection, StreamConnection];
    expectTooMany(() => places.subscribe(first));
    expectTooMany(() => places.open({ holder: '', subscriptions: 1 }, 'ann'));
    open(places, 'ann', [0]);
    open(places, 'bob', [1000]);
    places.close(last);
    places.subscribe(first);
  });

  it('move with a connection to the identity that signs in on it, or stay where they were', () => {
    const places = createStreamPlaces({ connections: 2, subscriptions: 4 });
    const [moving] = open(places, 'an address', [3, 0]) as [StreamConnection];
    open(places, 'ann', [2]);
    expectTooMany(() => places.open(moving, 'ann'));
    expect(moving).toEqual({ holder: 'an address', subscriptions: 3 });
    expectTooMany(() => places.checkConnection('an address'));
    places.open(moving, 'bob');
    places.open(moving, 'bob');
    open(places, 'an address', [0]);
    expect(places.total()).toEqual({ connections: 4, subscriptions: 5 });
  });

  it('are all released with a connection, once', () => {
    const places = createStreamPlaces();
    const [connection] = open(places, 'ann', [7]) as [StreamConnection];
    places.close(connection);
    places.close(connection);
    places.unsubscribe(connection);
    expectTooMany(() => places.subscribe(connection));
    expect(places.total()).toEqual({ connections: 0, subscriptions: 0 });
  });
});
