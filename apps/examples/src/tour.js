import { once, EventEmitter } from 'node:events';
import {
  aggregate,
  count,
  createChatClient,
  createNotificationStream,
  createTandemClient,
  groupBy,
  max,
  queryOf,
  rowsOf,
} from '@tandem/client';
import { WebSocket } from 'ws';

// a tour of the typed client: node apps/examples/src/tour.js [URL of a server with the demonstration data]
const [url = 'http://localhost:3000'] = process.argv.slice(2);
const password = 'tea at the harbour';

// a new visitor signs up, and a person of the demonstration data signs in
const visitor = createTandemClient({ url });
const { id: visitorId } = await visitor.signUp({ email: `visitor-${Date.now()}@example.org`, password });
const ada = createTandemClient({ url });
const { id: adaId } = await ada.signIn({ email: 'ada@example.org', password });

// lists: what words find, rows with a filter and an order, and groups
const loaves = queryOf('products.list').search('loaf').select('name').top(3).parameters;
const baked = rowsOf(await visitor.api.products.list.query(loaves), loaves);
console.log(`a search finds ${baked.value.map(({ name }) => name).join(', ')}`);
const dear = queryOf('products.list').where('price.amount', 'gt', 1000).orderBy('price.amount', 'desc').top(2).parameters;
const found = rowsOf(await visitor.api.products.list.query(dear), dear);
console.log(`${found.total} products cost more than 1000, these most:`);
for (const { name, price } of found.value) console.log(`  ${name}, ${price?.amount} ${price?.currency}`);
const shops = queryOf('products.list').apply(
  groupBy(['price.currency'], aggregate({ n: count(), dearest: max('price.amount') })),
).parameters;
for (const { price, n, dearest } of rowsOf(await visitor.api.products.list.query(shops), shops).value)
  console.log(`${n} products in ${price.currency}, at most ${dearest}`);

// notifications as they come: here one is read, for instance on another device
const heard = new EventEmitter();
const { data } = await ada.api.notifications.list.query({ identityId: adaId, limit: 1 });
const notifications = createNotificationStream({
  url,
  client: ada,
  known: data,
  onNotification: ({ title }) => console.log(`Ada is told: ${String(title)}`),
  onUnread: (unread) => heard.emit('unread', unread),
  WebSocket,
});
const [before] = await once(heard, 'unread');
const [[after]] = await Promise.all([
  once(heard, 'unread'),
  ada.api.notifications.markRead.mutate({ notificationId: data[0]?.id ?? '' }),
]);
console.log(`Ada reads one of her notifications: ${before - after} unread less`);
notifications.close();

// a chat: Ada opens a channel, the visitor follows it
const { id: channelId } = await ada.api.chat.createChannel.mutate({ name: 'Tea', ownerId: adaId });
await ada.api.chat.createSubscription.mutate({ channelId, subscribedId: visitorId });
const chat = createChatClient({ url, client: visitor, WebSocket });
chat.follow(
  channelId,
  {
    onSubscribed: () => heard.emit('subscribed'),
    onEvent: (event) => event.type === 'message.created' && heard.emit('message', event.message),
  },
  { expand: ['sender'] },
);
await once(heard, 'subscribed');
const [[message]] = await Promise.all([
  once(heard, 'message'),
  ada.api.chat.createMessage.mutate({ channelId, senderId: adaId, content: 'Is there tea?' }),
]);
console.log(`the visitor reads what ${message.sender?.name} writes: ${message.content}`);
chat.close();

await visitor.signOut();
await ada.signOut();
