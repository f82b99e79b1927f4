import type { OrganizationKey } from './data/organizations.js';
import { PEOPLE, type Who } from './data/people.js';
import { createDice } from './dice.js';
import type { Goods } from './fill-catalogue.js';
import type { Organizations } from './fill-organizations.js';
import type { People } from './fill-people.js';
import { ago, forEach, type Seeding } from './seeding.js';

/** Whom people follow besides others: the shops. */
const FOLLOWED: readonly OrganizationKey[] = ['bakery', 'cycles', 'kettle', 'light', 'old-town', 'kiln', 'school'];

/** Lets people follow each other and organizations, and like products, over the year. */
export async function fillRelations(
  seeding: Seeding,
  { people, organizations, goods }: { people: People; organizations: Organizations; goods: Goods },
): Promise<void> {
  const { services, act } = seeding;
  const { follows, likes } = services;
  const dice = createDice(7_919);
  const everybody = Object.keys(PEOPLE) as Who[];
  const products = Object.values(goods).flat();
  const wanted = everybody.flatMap((who) => {
    const { id, profileId } = people[who];
    const { joined = 330 } = PEOPLE[who] as { joined?: number };
    const some = <T>(from: readonly T[], count: number) =>
      dice.some(from, count).map((one) => [one, dice.below(joined)] as const);
    const others = everybody.filter((one) => one !== who);
    return [
      ...some(others, 2 + dice.below(6)).map(
        ([other, days]) => [id, days, () => follows.followProfile(profileId, people[other].profileId)] as const,
      ),
      ...some(FOLLOWED, 1 + dice.below(4)).map(
        // younger than all of them
        ([key, days]) => [id, Math.min(days, 140), () => follows.followOrganization(profileId, organizations[key])] as const,
      ),
      ...some(products, 4 + dice.below(10)).map(
        ([{ productId }, days]) => [id, days, () => likes.like(profileId, productId)] as const,
      ),
    ];
  });
  await forEach(wanted, async ([id, days, run]) => {
    await act<unknown>(id, ago(seeding, days), run);
  });
}
