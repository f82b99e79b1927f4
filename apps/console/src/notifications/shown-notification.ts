import type { Notification } from '@tandem/client';
import { isId } from '../ids.js';
import { t, term } from '../texts/texts.js';

/** Fields of every notification, which are not shown. */
const COMMON = new Set(['id', 'receiverId', 'isRead', 'createdAt', 'updatedAt']);
/** Field names that hosts commonly use for titles. */
const TITLES = ['title', 'subject', 'kind', 'type'];
/** What the server itself tells. */
const ownTitle = (kind: string) => (kind === 'mention' ? t('home.notifications.mention') : undefined);
const TEXTS = ['text', 'body', 'message', 'content'];

interface ShownNotification {
  title: string;
  text: string | undefined;
  /** Other fields that the host has written. */
  facts: [name: string, value: string][];
}

/** `orderId` as "Order id". */
function inWords(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[_.-]+/g, ' ').toLowerCase(); // prettier-ignore
  return term('values', name) ?? term('fields', name) ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** `order.shipped`: an event code for programs. */
const CODE = /^[a-z]+([._][a-z]+)+$/i;

/** Ids are not shown. */
function isShown(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && !isId(value);
}

/**
 * A notification's own fields, which each host chooses: one becomes the title, one the text, the others are listed by
 * name.
 */
export function showNotification(notification: Notification): ShownNotification {
  const own = Object.entries(notification).filter(([name]) => !COMMON.has(name));
  const textOf = (name: string) => String(notification[name]);
  const firstText = (names: readonly string[]) => names.find((name) => typeof notification[name] === 'string');
  const [title, text] = [firstText(TITLES), firstText(TEXTS)];
  const facts = own.filter(([name, value]) => name !== title && name !== text && isShown(value));
  return {
    title: title === undefined ? t('home.notifications.one') : (ownTitle(textOf(title)) ?? textOf(title).replace(CODE, inWords)),
    text: text === undefined ? undefined : textOf(text),
    facts: facts.map(([name, value]) => [inWords(name), String(value)]),
  };
}

/** Fields that name a record, the first of which says what a notification is about, and what a link to it says. */
const PLACES = [
  ['orderId', '/orders/', 'home.notifications.order'],
  ['productId', '/products/', 'home.notifications.product'],
  ['organizationId', '/organizations/', 'home.notifications.organization'],
  ['channelId', '/chat/', 'home.notifications.channel'],
] as const;

interface NotificationPlace {
  to: string;
  search?: Record<string, string>;
  text: 'home.notifications.message' | (typeof PLACES)[number][2];
}

/** Where a notification leads; undefined where it names no record. */
export function placeOfNotification(notification: Notification): NotificationPlace | undefined {
  const { channelId, messageId } = notification as Record<string, unknown>;
  if (isId(channelId) && isId(messageId))
    return { to: `/chat/${channelId}`, search: { message: messageId }, text: 'home.notifications.message' };
  for (const [field, path, text] of PLACES) {
    const id: unknown = notification[field];
    if (isId(id)) return { to: path + id, text };
  }
  return undefined;
}
