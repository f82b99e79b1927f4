import { FACES, expectListConvention, startTestServer, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERY_LIST, documentedLists, fillEveryList } from '../../test/every-list.js';

/** Rows of each list at least: enough for several pages, and all together on the longest. */
const ROWS = 5;

let app: TestServer;
let world: Awaited<ReturnType<typeof fillEveryList>>;
beforeAll(async () => {
  app = await startTestServer();
  world = await fillEveryList(app, ROWS);
}, 60_000);
afterAll(() => app.close());

it('every list of the OpenAPI document is among those that are tested', async () => {
  expect((await documentedLists(app)).toSorted()).toEqual(Object.keys(EVERY_LIST).toSorted());
});

describe.each(FACES)('over %s', (face) => {
  it.each(Object.entries(EVERY_LIST))('%s is a list as every other', async (procedure, caseOf) => {
    const { person, ...list } = caseOf(world);
    await expectListConvention(person, face, { procedure, ...list });
  });
});
