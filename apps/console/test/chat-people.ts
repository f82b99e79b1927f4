import type { Person, TestServer } from '@tandem/testing';
import type { Page } from 'playwright-core';

type App = Pick<TestServer, 'signUp'>;

/** Somebody with a profile. */
export async function personCalled(app: App, name: string): Promise<Person> {
  const person = await app.signUp();
  await person.rest('POST', '/profiles', { identityId: person.id, name }).expect(201);
  return person;
}

/** A channel of Ann's, with Bob as a member. */
export async function channelOfAnnAndBob(app: App, name: string) {
  const [ann, bob] = [await personCalled(app, 'Ann Archer'), await personCalled(app, 'Bob Baker')];
  const { id: channelId } = await ann.rest('POST', '/channels', { name, ownerId: ann.id }).expect<{ id: string }>(201);
  await ann.rest('POST', '/subscriptions', { channelId, subscribedId: bob.id }).expect(201);
  const say = (who: Person, content: string, more: object = {}) =>
    who.rest('POST', '/messages', { channelId, senderId: who.id, content, ...more }).expect<{ id: string; seq: number }>(201);
  return { ann, bob, channelId, say };
}

/** A message of the conversation by its text, and what one does with it. */
export function messageOf(page: Page, text: string, { within = /^Messages in/ } = {}) {
  const row = page.getByRole('log', { name: within }).getByRole('listitem').filter({ hasText: text }).first();
  return {
    row,
    /** A button that is there while the pointer is over the message. */
    async press(name: string): Promise<void> {
      await row.hover();
      await row.getByRole('button', { name, exact: true }).last().click();
    },
    /** An action of its menu. */
    async choose(name: string): Promise<void> {
      await row.hover();
      await row.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name, exact: true }).click();
    },
  };
}

/** An action of a member in the channel's panel. */
export async function chooseFor(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
}
