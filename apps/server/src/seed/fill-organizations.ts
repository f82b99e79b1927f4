import { draw } from './drawings/canvas.js';
import { certificate } from './drawings/certificate.js';
import { emblem } from './drawings/emblem.js';
import {
  CHANGE_REQUESTS,
  INVITATIONS,
  ORGANIZATIONS,
  mailOf,
  type OrganizationKey,
  type SeedOrganization,
} from './data/organizations.js';
import { PEOPLE } from './data/people.js';
import { signedIn, type People } from './fill-people.js';
import { ago, forEach, picture, uploaded, type Seeding } from './seeding.js';

/** Ids by key. */
export type Organizations = Readonly<Record<OrganizationKey, string>>;

const NO_DEVICE = { ip: '', userAgent: '' };
const ALL = Object.entries<SeedOrganization>(ORGANIZATIONS) as [OrganizationKey, SeedOrganization][];
/** Days ago that the holding took the shops over. */
const TAKEN_OVER = 340;

/** Makes the organizations with logos, those above first, and their members. */
export async function fillOrganizations(seeding: Seeding, people: People): Promise<Organizations> {
  const { services, act } = seeding;
  const { logos } = services.organizationFiles;
  const ids: Partial<Record<OrganizationKey, string>> = {};

  async function found([key, one]: [OrganizationKey, SeedOrganization]): Promise<void> {
    const { name, description, typeId, branchName, phone, address, owner, founded, parent } = one;
    const ownerId = people[owner].id;
    const logo = await uploaded(seeding, ownerId, picture(draw(emblem(...one.logo))), (request) => logos.issue(request, ownerId));
    const contact = { contact_email: mailOf(key), contact_phone: phone };
    const given = { name, description, typeId, address, logo, ...contact, ...(branchName !== undefined && { branchName }) };
    const parentId = parent && ids[parent as OrganizationKey];
    const { id } = await act(ownerId, ago(seeding, founded), () =>
      services.organizations.create({ ...given, parentId }, ownerId, ownerId),
    );
    ids[key] = id;
    const roles = [
      ...(one.admins ?? []).map((who) => ({ identityId: people[who].id, role: 'admin' as const, who })),
      ...(one.members ?? []).map((who) => ({ identityId: people[who].id, role: 'member' as const, who })),
    ];
    const by = { identityId: ownerId, isAdmin: false };
    for (const [at, { identityId, role, who }] of roles.entries()) {
      const { joined = founded } = PEOPLE[who] as { joined?: number };
      const day = Math.min(founded, joined) - 1 - at * 2;
      await act(ownerId, ago(seeding, day), () => services.members.upsert(id, [{ identityId, role }], by));
    }
  }

  for (const depth of [0, 1, 2])
    await forEach(
      ALL.filter(([key]) => depthOf(key) === depth),
      found,
    );
  for (const [at, [key, { movedBelow }]] of ALL.entries()) {
    const [id, parentId] = [ids[key], movedBelow && ids[movedBelow as OrganizationKey]];
    if (id && parentId)
      await act(people.admin.id, ago(seeding, TAKEN_OVER - at), () => services.organizations.move(id, parentId));
  }
  return ids as Organizations;
}

/** Levels above an organization when it is made. */
function depthOf(key: OrganizationKey): number {
  const { parent }: SeedOrganization = ORGANIZATIONS[key];
  return parent === undefined ? 0 : 1 + depthOf(parent as OrganizationKey);
}

/** Invites people, lets Rosa accept, and asks the admin for changes. */
export async function fillRequests(seeding: Seeding, people: People, organizations: Organizations): Promise<void> {
  await Promise.all([invite, acceptOne, askForChanges].map((fill) => fill(seeding, people, organizations)));
}

const ownerOf = (key: OrganizationKey, people: People) => people[ORGANIZATIONS[key].owner].id;

async function invite(seeding: Seeding, people: People, organizations: Organizations): Promise<void> {
  const { services, act } = seeding;
  await forEach(INVITATIONS, async ({ to, organization, role, days }) => {
    const by = { identityId: ownerOf(organization, people), isAdmin: false };
    const given = { email: mailOf(to), organizationId: organizations[organization], role };
    await act(by.identityId, ago(seeding, days), () => services.invitations.create(given, by, NO_DEVICE));
  });
}

/** Rosa has an account, and accepts with the token that her mail would contain. */
async function acceptOne(seeding: Seeding, people: People, organizations: Organizations): Promise<void> {
  const { services, act } = seeding;
  const email = mailOf('rosa');
  const given = { email, organizationId: organizations['old-town'], role: 'member' } as const;
  const by = { identityId: ownerOf('old-town', people), isAdmin: false };
  const { id: invitationId } = await act(by.identityId, ago(seeding, 116), () =>
    services.invitations.create(given, by, NO_DEVICE),
  );
  const session = await signedIn(seeding, 'rosa', 115.5);
  if (!session) return;
  await act(people.rosa.id, ago(seeding, 115.5), async () => {
    const { token } = await services.onetimeTokens.create({ invitationId, target: 'invitation', email });
    await services.acceptance.accept(token, session.identity, session.facts);
  });
}

async function askForChanges(seeding: Seeding, people: People, organizations: Organizations): Promise<void> {
  const { services, act } = seeding;
  const { certificates } = services.organizationFiles;
  // those of one organization one after another
  for (const { organization, asks, outcome, days } of CHANGE_REQUESTS) {
    const organizationId = organizations[organization];
    const ownerId = ownerOf(organization, people);
    const { qualification, ...changes } = asks;
    const proof = qualification && {
      certifiedQualifications: [{ name: qualification[0], status: 'valid', value: qualification[1] }],
      certificateImage: await uploaded(
        seeding,
        ownerId,
        {
          type: 'application/pdf',
          content: certificate({
            title: qualification[0],
            holder: ORGANIZATIONS[organization].name,
            says: `entered in the register as ${qualification[1]}`,
            date: ORGANIZATIONS[organization].address.city,
          }),
        },
        (request) => certificates.issue(request, ownerId),
      ),
    };
    const { id: changeRequestId } = await act(ownerId, ago(seeding, days), () =>
      services.changeRequests.create(organizationId, { ...changes, ...proof }, ownerId),
    );
    if (outcome === undefined) continue;
    await act(people.admin.id, ago(seeding, days - 1), () =>
      services.changeRequests.decide({ organizationId, changeRequestId }, outcome, people.admin.id),
    );
  }
}
