import { ORGANIZATIONS, type OrganizationKey } from './data/organizations.js';
import type { Organizations } from './fill-organizations.js';
import { signedIn, type People } from './fill-people.js';
import { ago, forEach, type Seeding } from './seeding.js';

/** A program with a key of its own. Nobody is told the key: another can be made. */
const ACCOUNTS: readonly {
  organization: OrganizationKey;
  name: string;
  role: 'admin' | 'member';
  scopes: string[];
  days: number;
}[] = [
  { organization: 'bakery', name: 'Cash register', role: 'admin', scopes: ['orders.*', 'products.*:read'], days: 80 },
  { organization: 'cycles', name: 'Stock robot', role: 'admin', scopes: ['products.*', 'productVariants.*'], days: 45 },
  { organization: 'light', name: 'Newsletter', role: 'member', scopes: ['products.*:read'], days: 12 },
];

/**
 * Where events would be sent. The host is nobody's, and the types are of events that the sample data do not have: nothing
 * leaves this machine until somebody deletes something.
 */
const WEBHOOKS: readonly { organization: OrganizationKey; path: string; types: string[]; description: string; days: number }[] = [
  { organization: 'bakery', path: 'ledger', types: ['order.deleted', 'order.restored'], description: 'Bookkeeping', days: 78 },
  { organization: 'cycles', path: 'stock', types: ['product.deleted', 'product.restored'], description: 'Stock', days: 44 },
  { organization: 'holding', path: 'audit', types: ['organization.deleted'], description: 'Audit of the holding', days: 20 },
];
const RECEIVER = 'https://hooks.example.org';

/** Makes service accounts with keys, and webhooks. */
export async function fillPrograms(seeding: Seeding, people: People, organizations: Organizations): Promise<void> {
  const { services, act } = seeding;
  await forEach(ACCOUNTS, async ({ organization, name, role, scopes, days }) => {
    const { owner } = ORGANIZATIONS[organization];
    const session = await signedIn(seeding, owner, days);
    const ownerId = people[owner].id;
    await act(ownerId, ago(seeding, days), async () => {
      const facts = session?.facts ?? { ip: '', userAgent: '', actorId: ownerId };
      const account = await services.serviceAccounts.create({ organizationId: organizations[organization], name, role }, facts);
      if (session) await services.keys.create(account.id, { name, scopes }, session.identity, session.facts);
    });
  });
  await forEach(WEBHOOKS, async ({ organization, path, types, description, days }) => {
    const ownerId = people[ORGANIZATIONS[organization].owner].id;
    const given = { organizationId: organizations[organization], url: `${RECEIVER}/${path}`, types, description };
    await act(ownerId, ago(seeding, days), () => services.webhooks.create(given, ownerId));
  });
}
