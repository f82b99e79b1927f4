import { FACES, expectListConvention, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { EVERY_LIST, documentedLists, fillEveryList } from '../../test/every-list.js';

/** Rows of each list at least: enough for several pages, and all together on the longest. */
const ROWS = 5;

const app = fixture(startTestServer);
let parameters: Map<string, string[]>;
let world: Awaited<ReturnType<typeof fillEveryList>>;
beforeAll(async () => {
  parameters = await documentedLists(app);
  world = await fillEveryList(app, ROWS);
}, 60_000);

it('every list of the OpenAPI document is among those that are tested', () => {
  expect([...parameters.keys()].toSorted()).toEqual(Object.keys(EVERY_LIST).toSorted());
});

describe.each(FACES)('over %s', (face) => {
  it.each(Object.entries(EVERY_LIST))('%s is a list as every other', async (procedure, caseOf) => {
    const { person, ...list } = caseOf(world);
    await expectListConvention(person, face, { procedure, ...list });
  });

  it.each(Object.entries(EVERY_LIST))(
    '%s gives by its own parameters the rows that have their values',
    async (procedure, caseOf) => {
      const { person, input } = caseOf(world);
      async function ask(query: object): Promise<Record<string, unknown>[]> {
        const outcome = await person.call(face, procedure, { ...input, limit: 50, ...query });
        return (outcome as { value: { data: Record<string, unknown>[] } }).value.data;
      }
      const rows = await ask({});
      for (const name of (parameters.get(procedure) ?? []).filter((one) => one in (rows[0] ?? {}))) {
        const value = rows.findLast((row) => row[name] !== null)?.[name];
        expect(value, name).toBeDefined();
        expect(await ask({ [name]: value }), name).toEqual(rows.filter((row) => row[name] === value));
      }
    },
  );
});

it.each(Object.entries(EVERY_LIST))('%s gives each field of its rows alone, as in whole rows', async (procedure, caseOf) => {
  const { person, input } = caseOf(world);
  async function ask(query: object): Promise<Record<string, unknown>[]> {
    const outcome = await person.call('rest', procedure, { ...input, ...query });
    const { data, value } = (outcome as { value: { data?: Record<string, unknown>[]; value?: Record<string, unknown>[] } }).value;
    return data ?? value ?? [];
  }
  const rows = await ask({});
  expect(rows.length).toBeGreaterThan(3);
  const part = (row: Record<string, unknown>, names: string[]) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => name === 'id' || names.includes(name)));
  const names = Object.keys(rows[0] ?? {});
  for (const name of names) expect(await ask({ $select: name }), name).toEqual(rows.map((row) => part(row, [name])));
  // the default order reads what it sorts by, selected or not
  for (const name of names) expect(await ask({ $select: name, $orderby: 'id' }), name).toHaveLength(rows.length);
  const some = names.filter((_, n) => n % 2 === 0);
  expect(await ask({ $select: some.join(' , '), $top: 3 })).toEqual(rows.slice(0, 3).map((row) => part(row, some)));
});

describe.each(FACES)('over %s, a read of one record', (face) => {
  /** Each with a list that has such records, and the key of its id. */
  it.each<[string, keyof typeof EVERY_LIST, string]>([
    ['attributes.get', 'attributes.list', 'attributeId'],
    ['categories.get', 'categories.list', 'categoryId'],
    ['chat.getChannel', 'chat.listChannels', 'channelId'],
    ['chat.getMessage', 'chat.listMessages', 'messageId'],
    ['chat.getMessageTemplate', 'chat.listMessageTemplates', 'messageTemplateId'],
    ['chat.getReport', 'chat.listReports', 'reportId'],
    ['chat.getSubscription', 'chat.listSubscriptions', 'subscriptionId'],
    ['identities.get', 'identities.list', 'identityId'],
    ['invitations.get', 'invitations.list', 'invitationId'],
    ['locations.get', 'locations.list', 'locationId'],
    ['orders.get', 'orders.list', 'orderId'],
    ['organizations.get', 'organizations.list', 'organizationId'],
    ['productVariants.get', 'productVariants.list', 'productVariantId'],
    ['products.get', 'products.list', 'productId'],
    ['profiles.get', 'profiles.listOfIdentity', 'profileId'],
  ])('by %s gives each of its fields alone, as in the whole', async (procedure, list, key) => {
    const { person, input } = EVERY_LIST[list](world);
    const rows = (await person.call(face, list, { ...input })) as { value: { data: { id: string }[] } };
    const id = rows.value.data[0]?.id ?? '';
    const ask = async ($select?: string) => {
      const named = procedure === 'productVariants.get' ? input : {};
      return person.call(face, procedure, { ...named, [key]: id, ...($select !== undefined && { $select }) });
    };
    const whole = (await ask()) as { ok: true; value: Record<string, unknown> };
    expect(whole).toMatchObject({ ok: true, value: { id } });
    for (const [name, value] of Object.entries(whole.value))
      expect(await ask(name)).toEqual({ ok: true, value: { id, [name]: value } });
    expect(await ask('nope,id.x')).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: ["query parameter '$select' has the unknown property 'nope' at offset 0"],
    });
  });
});
