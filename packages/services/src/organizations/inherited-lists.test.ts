import { BESIDE } from '@tandem/storage';
import { FACES, startTestServer, type Person, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { organizationModel } from './organization.model.js';
import { ORGANIZATION_ROLES } from './roles.js';

interface Told {
  commandName: string;
  command: { aggregate?: string; pipeline: object[]; comment?: string };
}
interface Made {
  id: string;
  parentId: string | null;
  role?: string | undefined;
  isDeleted?: boolean;
}

let home: TestServer;
/** Another instance, whose commands are watched. */
let app: TestServer;
let admin: Person;
/** The pipelines over organizations that the store was asked for. */
let asked: object[][] = [];
beforeAll(async () => {
  home = await startTestServer();
  const mongodbUri = `${home.mongodbUri}${home.mongodbUri.includes('?') ? '&' : '?'}monitorCommands=true`;
  app = await startTestServer({ mongodbUri });
  admin = await app.signUpAdmin();
  const client = app.storage.model(organizationModel).db.getClient();
  client.on('commandStarted', ({ commandName, command }: Told) => {
    if (commandName === 'aggregate' && command.aggregate === 'organizations' && command.comment !== BESIDE.comment)
      asked.push(command.pipeline);
  });
});
afterAll(async () => {
  await app.close();
  await home.close();
});

async function store(made: readonly Made[], identityId: string): Promise<void> {
  const at = app.clock.now().getTime();
  const records = made.map(({ id, parentId, role, isDeleted }, n) => ({
    _id: id,
    name: id,
    contact_email: 'a@example.org',
    parentId,
    members: role === undefined ? [] : [{ identityId, role, joinedAt: new Date(at) }],
    createdAt: new Date(at + n),
    updatedAt: new Date(at),
    deletedAt: isDeleted ? new Date(at) : null,
  }));
  await app.storage.model(organizationModel).collection.insertMany(records as never[]);
}

/** How many documents the store looks at for a pipeline, without what it counts the total from. */
async function documentsExamined(pipeline: readonly object[]): Promise<number> {
  const page = pipeline.filter((stage) => !('$unionWith' in stage && JSON.stringify(stage).includes('"$count"')));
  const explained: unknown = await home.storage.model(organizationModel).collection.aggregate(page).explain('executionStats');
  let examined = 0;
  JSON.stringify(explained, (key, value: unknown) => {
    if (key === 'totalDocsExamined') examined += Number(value);
    return key === 'rejectedPlans' ? undefined : value;
  });
  return examined;
}

/** Numbers from 0 to below 1, the same in each run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const memberOf = ({ role }: Made) => (role === undefined ? undefined : { role, inheritedFrom: null });

describe.each(FACES)('over %s', (face) => {
  it('what lies below is as a walk through a tree finds it', async () => {
    const ann = await app.signUp();
    const random = randomNumbers(7);
    const made: Made[] = [];
    for (let n = 0; n < 120; n++)
      made.push({
        id: crypto.randomUUID(),
        parentId: n === 0 || random() < 0.1 ? null : (made[Math.floor(random() * n)] as Made).id,
        role: random() < 0.2 ? ORGANIZATION_ROLES[Math.floor(random() * 3)] : undefined,
        isDeleted: random() < 0.05,
      });
    await store(made, ann.id);
    const live = new Map(made.filter(({ isDeleted }) => !isDeleted).map((one) => [one.id, one]));
    /** From itself up. */
    const pathOf = (one: Made) => {
      const path = [one];
      for (let up = live.get(one.parentId ?? ''); up; up = live.get(up.parentId ?? '')) path.push(up);
      return path;
    };
    const newestFirst = [...live.values()].toReversed();
    const heldIn = (one: Made) => {
      const fromTop = pathOf(one).toReversed();
      const best = ORGANIZATION_ROLES.flatMap((role) => fromTop.find((above) => above.role === role) ?? [])[0];
      return memberOf(one) ?? (best?.role === undefined ? undefined : { role: best.role, inheritedFrom: best.id });
    };
    const held = newestFirst.flatMap((one) => {
      const member = heldIn(one);
      return member ? [{ id: one.id, member }] : [];
    });
    const pagesOf = async (procedure: string, input: object) => {
      const rows: unknown[] = [];
      for (let page = 1; ; page++) {
        const answer = await admin.call(face, procedure, { ...input, page, limit: 50 });
        const { data, metadata } = (
          answer as { value: { data: object[]; metadata: { pagination: { hasNext: boolean; total: number } } } }
        ).value;
        rows.push(...data);
        if (metadata.pagination.hasNext) continue;
        expect(metadata.pagination.total).toBe(rows.length);
        return rows;
      }
    };
    const memberships = async (input: object) => {
      const rows = await pagesOf('organizations.listOfIdentity', { identityId: ann.id, includeInherited: true, ...input });
      return (rows as { member: object; organization: { id: string } }[]).map(({ member, organization: { id } }) => ({
        id,
        member,
      }));
    };
    expect(held.filter(({ member }) => member.inheritedFrom !== null).length).toBeGreaterThan(20);
    expect(await memberships({})).toEqual(held);
    const inheritedAlone = await pagesOf('organizations.listOfIdentity', {
      identityId: ann.id,
      includeInherited: true,
      $select: 'member',
    });
    expect(inheritedAlone).toEqual(held.map(({ member }) => ({ member })));
    for (const role of ORGANIZATION_ROLES) {
      const holding = held.filter(({ member }) => member.role === role);
      expect(await memberships({ roles: role })).toEqual(holding);
      expect(await memberships({ $filter: `member.role eq '${role}'` })).toEqual(holding);
    }
    const key = ({ id, member: { role } }: { id: string; member: { role: string } }) => `${role} ${id}`;
    const inOrder = held.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
    expect(await memberships({ $orderby: 'member.role' })).toEqual(inOrder);

    for (const top of made.slice(0, 10).filter(({ isDeleted }) => !isDeleted))
      for (const depth of [undefined, 1, 2]) {
        const below = newestFirst.filter((one) => {
          const at = pathOf(one).indexOf(top);
          return at > 0 && at <= (depth ?? Infinity);
        });
        const rows = (await pagesOf('organizations.listDescendants', { organizationId: top.id, ...(depth && { depth }) })) as {
          id: string;
        }[];
        expect(rows.map(({ id }) => id)).toEqual(below.map(({ id }) => id));
      }
  });

  it('a page takes the same commands, and looks at the same documents, however many parts there are', async () => {
    const costOf = async (parts: number) => {
      const ann = await app.signUp();
      const [top, middle] = [crypto.randomUUID(), crypto.randomUUID()];
      const below = (parentId: string) => Array.from({ length: parts }, () => ({ id: crypto.randomUUID(), parentId }));
      await store(
        [{ id: top, parentId: null, role: 'owner' }, { id: middle, parentId: top }, ...below(top), ...below(middle)],
        ann.id,
      );
      const costs: object[] = [];
      for (const [procedure, input, total] of [
        ['listOfIdentity', { identityId: ann.id, includeInherited: true }, 2 * parts + 2],
        ['listOfIdentity', { identityId: ann.id, includeInherited: true, roles: 'owner' }, 2 * parts + 2],
        ['listDescendants', { organizationId: top }, 2 * parts + 1],
        ['listDescendants', { organizationId: top, depth: 1 }, parts + 1],
      ] as const) {
        asked = [];
        const answer = await ann.call(face, `organizations.${procedure}`, { ...input, limit: 5 });
        expect(answer).toMatchObject({ ok: true, value: { metadata: { pagination: { total } } } });
        const pipelines = asked;
        const examined = await Promise.all(pipelines.map((pipeline) => documentsExamined(pipeline)));
        costs.push({ procedure, commands: pipelines.length, examined });
      }
      return costs;
    };
    const few = await costOf(30);
    expect(await costOf(300)).toEqual(few);
  });
});
