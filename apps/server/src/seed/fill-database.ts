import { CommandError } from '../commands/command-error.js';
import { ORGANIZATIONS, mailOf } from './data/organizations.js';
import { CUSTOMERS, PEOPLE, type Who } from './data/people.js';
import { fillCatalogue, fillPlaces, fillTemplates } from './fill-catalogue.js';
import { fillChannels } from './fill-channels.js';
import { fillOrders } from './fill-orders.js';
import { fillOrganizations, fillRequests } from './fill-organizations.js';
import { fillPeople, fillSessions } from './fill-people.js';
import { fillPrograms } from './fill-programs.js';
import { fillRelations } from './fill-relations.js';
import { createSeeding, type SeedOptions } from './seeding.js';

interface Seeded {
  people: { email: string; is: string }[];
  organizations: number;
  products: number;
  orders: number;
  notifications: number;
  messages: number;
}

/** What somebody is, in the first organization that says so. */
function roleOf(who: Who): string {
  if (who === 'admin') return 'admin';
  if ((CUSTOMERS as readonly Who[]).includes(who)) return 'customer';
  const all = Object.values(ORGANIZATIONS) as { name: string; owner: Who; admins?: readonly Who[]; members?: readonly Who[] }[];
  for (const { name, owner, admins = [], members = [] } of all) {
    if (owner === who) return `owner of ${name}`;
    if (admins.includes(who)) return `admin of ${name}`;
    if (members.includes(who)) return `member of ${name}`;
  }
  return 'member of Mill Street Old Town';
}

/**
 * Fills a database without organizations, through the services, as their callers would.
 * @throws CommandError when it has any; service errors for an unacceptable password
 */
export async function fillDatabase(options: SeedOptions): Promise<Seeded> {
  const seeding = createSeeding(options);
  if (await seeding.services.organizations.hasAny())
    throw new CommandError('the database already has organizations: only an empty one can be filled');
  const people = await fillPeople(seeding);
  const organizations = await fillOrganizations(seeding, people);
  const [goods, messages] = await Promise.all([
    fillCatalogue(seeding, organizations, people),
    fillChannels(seeding, people),
    fillPlaces(seeding, organizations, people),
    fillTemplates(seeding, organizations, people),
    fillRequests(seeding, people, organizations),
    fillPrograms(seeding, people, organizations),
    fillSessions(seeding),
  ]);
  const made = { people, organizations, goods };
  const [counts] = await Promise.all([fillOrders(seeding, made), fillRelations(seeding, made)]);
  return {
    people: (Object.keys(PEOPLE) as Who[]).map((who) => ({ email: mailOf(who), is: roleOf(who) })),
    organizations: Object.keys(ORGANIZATIONS).length,
    products: Object.values(goods).flat().length,
    messages,
    ...counts,
  };
}
