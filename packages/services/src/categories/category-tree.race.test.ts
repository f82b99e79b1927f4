import { failing, fixture, isCommand, startStoreProxy, startTestServer } from '@tandem/testing';
import { expect, it, vi } from 'vitest';
import { PATIENCE_MS } from '../shared/patching.js';
import { createTree, treeModel } from '../shared/trees.js';
import type { Category } from './categories.schemas.js';
import { categoryModel } from './category.model.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
const admin = fixture(() => app.signUpAdmin());
const elsewhere = fixture(() => other.signIn(admin.email));

async function createMany(count: number): Promise<string[]> {
  const body = { name: 'Books', description: '' };
  const made = await Promise.all(
    Array.from({ length: count }, () => admin.rest('POST', '/categories', body).expect<Category>(201)),
  );
  return made.map(({ id }) => id);
}
const move = (at: number, id: string | undefined, parent: string | undefined) =>
  (at % 2 ? admin : elsewhere).rest('PATCH', `/categories/${id}`, { parent });
const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b);

/** How many of these can be walked up to the top. */
async function reachTop(ids: readonly string[]): Promise<number> {
  const records = await app.storage
    .model(categoryModel)
    .find({ _id: { $in: ids } })
    .lean();
  const parentOf = new Map(records.map(({ _id, parent }) => [_id, parent]));
  const reaches = (id: string) => {
    let at: string | null | undefined = id;
    for (let steps = 0; steps <= ids.length; steps++) {
      at = parentOf.get(at);
      if (at === null) return true;
      if (at === undefined) return false;
    }
    return false;
  };
  return ids.filter(reaches).length;
}

it('two categories moved below each other at once, on two servers, never form a cycle: one move is refused', async () => {
  for (let round = 0; round < 40; round++) {
    const [a, b] = await createMany(2);
    const answers = await Promise.all([move(round, a, b), move(round + 1, b, a)]);
    expect(statusesOf(answers)).toEqual([200, 409]);
  }
});

it('20 categories of which each is put below the next, the last below the first: all but one move', async () => {
  for (let round = 0; round < 2; round++) {
    const ids = await createMany(20);
    const answers = await Promise.all(ids.map((id, at) => move(at, id, ids[(at + 1) % 20])));
    expect(statusesOf(answers)).toEqual([...Array.from({ length: 19 }, () => 200), 409]);
    expect(await reachTop(ids)).toBe(20);
  }
});

it('20 concurrent moves between few categories leave a tree', async () => {
  const ids = await createMany(5);
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => move(at, ids[at % 5], ids[(at * 7 + round + 1) % 5])),
    );
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(await reachTop(ids)).toBe(5);
  }
});

/** Stores a change as a process leaves it that dies before it has written it. */
async function leavePending(id: string, set: object): Promise<void> {
  const tree = app.storage.model(treeModel).collection;
  await tree.updateOne({ _id: 'categories' } as object, { $inc: { version: 1 }, $set: { pending: { id, set } } });
}

it('a move whose process died is made before the next one is decided', async () => {
  const [a = '', b] = await createMany(2);
  await leavePending(a, { parent: b });
  await admin.rest('PATCH', `/categories/${b}`, { parent: a }).expect(409);
  await admin.rest('PATCH', `/categories/${b}`, { parent: null }).expect(200);
  expect(await admin.rest('GET', `/categories/${a}`).expect<Category>(200)).toMatchObject({ parent: b });
});

it('a move whose process died overwrites no later change', async () => {
  const [a = '', b = '', c] = await createMany(3);
  await leavePending(a, { parent: b, name: 'Older' });
  await admin.rest('PATCH', `/categories/${a}`, { name: 'Newer' }).expect(200);
  await admin.rest('PATCH', `/categories/${c}`, { parent: b }).expect(200);
  expect(await admin.rest('GET', `/categories/${a}`).expect<Category>(200)).toMatchObject({ name: 'Newer', parent: b });
});

it('a move whose process died is made before the category is deleted, and never after', async () => {
  const [a = '', b = ''] = await createMany(2);
  await leavePending(a, { parent: b });
  await admin.rest('DELETE', `/categories/${a}`).expect(204);
  const deleted = await app.storage.model(categoryModel).findById(a).setOptions({ deleted: 'include' }).lean();
  expect(deleted).toMatchObject({ parent: b });
  await app.storage.sweep();
  expect(await app.storage.model(categoryModel).findById(a).setOptions({ deleted: 'include' }).lean()).toEqual(deleted);
});

it('a change that is stored after the deletion of its category is not made', async () => {
  await using proxy = await startStoreProxy(app.mongodbUri);
  await using slow = await startTestServer({ clock: app.clock, mongodbUri: proxy.uri });
  const [categoryId = ''] = await createMany(1);
  const decided = proxy.hold(isCommand('trees.update'));
  const change = slow.call('rest', 'categories.patch', { categoryId, metadata: { note: 'late' } }, admin.credentials);
  await decided.reached;
  await admin.rest('DELETE', `/categories/${categoryId}`).expect(204);
  decided.release();
  expect(await change).toEqual(failing(404, 'Category does not exist'));
  expect(await admin.rest('POST', `/categories/${categoryId}/restore`).expect(200)).toMatchObject({ metadata: {} });
});

it('a tree whose record was lost goes on', async () => {
  const [a, b] = await createMany(2);
  await admin.rest('PATCH', `/categories/${a}`, { parent: b }).expect(200);
  await app.storage.model(treeModel).deleteOne({ _id: 'categories' });
  await admin.rest('PATCH', `/categories/${a}`, { parent: null }).expect(200);
  expect(await admin.rest('GET', `/categories/${a}`).expect<Category>(200)).toMatchObject({ parent: null });
});

it('a change that waited for others until its caller was refused is not made afterwards', async () => {
  await using proxy = await startStoreProxy(app.mongodbUri);
  await using slow = await startTestServer({ clock: app.clock, mongodbUri: proxy.uri });
  const unexpected = () => new Error('unexpected');
  const { storage } = slow;
  const model = storage.model(categoryModel);
  const tree = createTree({ storage, model, parentField: 'parent', cycle: unexpected, missing: unexpected });
  const [id = ''] = await createMany(1);
  const decide = vi.fn<() => Promise<{ id: string; set: object }>>(() => Promise.resolve({ id, set: { name: 'Late' } }));
  const { reached, release } = proxy.hold(isCommand('trees.update'));
  const first = tree.change(() => Promise.resolve({ id, set: { name: 'First' } }));
  await reached;
  const second = tree.change(decide);
  const now = performance.now.bind(performance);
  using time = vi.spyOn(performance, 'now').mockImplementation(() => now() + PATIENCE_MS);
  release();
  await first;
  await expect(second).rejects.toThrow('Service Unavailable');
  expect(time).toHaveBeenCalled();
  expect(decide).not.toHaveBeenCalled();
  expect(await admin.rest('GET', `/categories/${id}`).expect(200)).toMatchObject({ name: 'First' });
});

it.each([
  ['written', 'categories.update', 'before'],
  ['done', 'trees.update', 'before'],
  ['answered', 'trees.update', 'after'],
] as const)(
  'a decided change of a version that is gone by then is refused, though a later one comes before it is %s',
  async (_, command, when) => {
    await using proxy = await startStoreProxy(app.mongodbUri);
    await using slow = await startTestServer({ clock: app.clock, mongodbUri: proxy.uri });
    const [id = '', above] = await createMany(2);
    const patch = (body: object) => admin.rest('PATCH', `/categories/${id}`, body).expect<Category>(200);
    const decided = proxy.hold(isCommand('trees.update'));
    const headers = { 'if-match': `"${id}.1"` };
    const input = { categoryId: id, parent: above };
    const answer = slow.call('rest', 'categories.patch', input, { ...admin.credentials, headers });
    await decided.reached;
    await patch({ name: 'Newer' });
    const held = proxy.hold(isCommand(command), when);
    decided.release();
    await held.reached;
    await patch({ metadata: { note: 'later' } });
    held.release();
    expect(await answer).toEqual(failing(412, 'Precondition Failed'));
    expect(await patch({ metadata: {} })).toMatchObject({ name: 'Newer', parent: null, metadata: { note: 'later' } });
  },
);

it('a change of a version that is gone is not even decided, so that no later one hides that it was not made', async () => {
  const [id = ''] = await createMany(1);
  const version = async () => (await app.storage.model(treeModel).findById('categories').lean())?.version;
  const before = await version();
  const patch = (metadata: object) =>
    app.rest('PATCH', `/categories/${id}`, { metadata }, { ...admin.credentials, headers: { 'if-match': `"${id}.1"` } });
  await patch({ note: 'first' }).expect(200);
  await patch({ note: 'second' }).expect(412);
  expect(await version()).toBe((before ?? 0) + 1);
});
