import type { Colour } from '../drawings/canvas.js';
import type { Sign } from '../drawings/emblem.js';
import { DOMAIN, type Who } from './people.js';

/** Where an organization is, on one line of an address each. */
interface Address {
  addressLine1: string;
  postalCode: string;
  city: string;
  country: string;
}

export interface SeedOrganization {
  name: string;
  description: string;
  typeId: 'holding' | 'shop' | 'branch' | 'workshop' | 'school';
  branchName?: string;
  phone: string;
  address: Address;
  logo: readonly [Sign, Colour];
  owner: Who;
  /** What it is below; made by its owner, who owns that too. */
  parent?: string;
  /** What an admin moved it below later. */
  movedBelow?: string;
  admins?: readonly Who[];
  members?: readonly Who[];
  founded: number;
}

export const mailOf = (name: string) => `${name}@${DOMAIN}`;
const berlin = { city: 'Berlin', country: 'Germany' };
const portland = { city: 'Portland', country: 'United States' };
const stoke = { city: 'Stoke-on-Trent', country: 'United Kingdom' };
const antwerp = { city: 'Antwerp', country: 'Belgium' };

const BREAD: Colour = [28, 58, 46];
const SEA: Colour = [200, 58, 40];
const CLAY: Colour = [12, 46, 50];
const NIGHT: Colour = [232, 34, 36];

/** By their mail's local part; those above come first. */
export const ORGANIZATIONS = {
  holding: {
    name: 'Harbour & Mill Holding',
    description: 'Owns four shops, and leaves them to those who know them',
    typeId: 'holding',
    phone: '+49 40 5550 100',
    address: { addressLine1: 'Warehouse 7', postalCode: '20457', city: 'Hamburg', country: 'Germany' },
    logo: ['anchor', [218, 48, 32]],
    owner: 'helena',
    admins: ['jonas'],
    founded: 350,
  },
  bakery: {
    name: 'Mill Street Bakery',
    description: 'Bread and cakes from a wood-fired oven, every morning but Monday',
    typeId: 'shop',
    phone: '+49 30 5550 101',
    address: { addressLine1: 'Mill Street 4', postalCode: '10178', ...berlin },
    logo: ['wheat', BREAD],
    owner: 'martha',
    admins: ['tarik'],
    members: ['nils'],
    movedBelow: 'holding',
    founded: 363,
  },
  'old-town': {
    name: 'Mill Street Old Town',
    branchName: 'Old Town',
    description: 'Coffee and cake below the arcades',
    typeId: 'branch',
    phone: '+49 30 5550 102',
    address: { addressLine1: 'Market Square 11', postalCode: '10179', ...berlin },
    logo: ['wheat', [16, 52, 50]],
    owner: 'martha',
    parent: 'bakery',
    founded: 270,
  },
  station: {
    name: 'Mill Street Station',
    branchName: 'Central Station',
    description: 'Rolls and coffee for the early trains',
    typeId: 'branch',
    phone: '+49 30 5550 103',
    address: { addressLine1: 'Platform 3', postalCode: '10557', ...berlin },
    logo: ['wheat', [42, 64, 44]],
    owner: 'martha',
    admins: ['tarik'],
    parent: 'bakery',
    founded: 230,
  },
  kiosk: {
    name: 'Station Night Window',
    branchName: 'Night window',
    description: 'What the day has left, until two in the morning',
    typeId: 'branch',
    phone: '+49 30 5550 104',
    address: { addressLine1: 'Platform 3, rear side', postalCode: '10557', ...berlin },
    logo: ['star', [250, 34, 36]],
    owner: 'martha',
    members: ['tarik'],
    parent: 'station',
    founded: 150,
  },
  cycles: {
    name: 'Harbour Cycles',
    description: 'Bicycles, parts and a workshop by the old harbour',
    typeId: 'shop',
    phone: '+1 503 555 0142',
    address: { addressLine1: '210 Dock Avenue', postalCode: '97209', ...portland },
    logo: ['wheel', SEA],
    owner: 'oscar',
    admins: ['paula'],
    members: ['quinn'],
    movedBelow: 'holding',
    founded: 362,
  },
  workshop: {
    name: 'Harbour Cycles Workshop',
    branchName: 'Workshop',
    description: 'Repairs while you wait, if you wait long enough',
    typeId: 'workshop',
    phone: '+1 503 555 0143',
    address: { addressLine1: '212 Dock Avenue', postalCode: '97209', ...portland },
    logo: ['gear', [190, 30, 36]],
    owner: 'oscar',
    members: ['quinn'],
    parent: 'cycles',
    founded: 300,
  },
  kettle: {
    name: 'Kettle & Clay',
    description: 'Teapots, cups and what goes into them, thrown and glazed by hand',
    typeId: 'shop',
    phone: '+44 1782 555 104',
    address: { addressLine1: 'Potters Lane 18', postalCode: 'ST1 3AB', ...stoke },
    logo: ['pot', CLAY],
    owner: 'sora',
    members: ['edith'],
    movedBelow: 'holding',
    founded: 361,
  },
  kiln: {
    name: 'Kettle & Clay Kiln',
    branchName: 'Kiln',
    description: 'Courses on Saturdays, seconds on Sundays',
    typeId: 'workshop',
    phone: '+44 1782 555 105',
    address: { addressLine1: 'Canal Side 2', postalCode: 'ST4 7QQ', ...stoke },
    logo: ['flame', [18, 66, 46]],
    owner: 'sora',
    admins: ['edith'],
    parent: 'kettle',
    founded: 210,
  },
  light: {
    name: 'North Light',
    description: 'Lamps and chairs for long evenings',
    typeId: 'shop',
    phone: '+32 3 555 01 77',
    address: { addressLine1: 'Quay 31', postalCode: '2000', ...antwerp },
    logo: ['lamp', NIGHT],
    owner: 'iris',
    members: ['liam'],
    movedBelow: 'holding',
    founded: 358,
  },
  school: {
    name: 'Riverside School',
    description: 'A primary school with a garden, which orders bread for its breakfasts',
    typeId: 'school',
    phone: '+49 30 5550 180',
    address: { addressLine1: 'Riverside 60', postalCode: '10179', ...berlin },
    logo: ['book', [140, 34, 36]],
    owner: 'greta',
    admins: ['farid'],
    members: ['emma', 'ines'],
    founded: 180,
  },
} as const satisfies Record<string, SeedOrganization>;

export type OrganizationKey = keyof typeof ORGANIZATIONS;

/** Who was invited, and when; an invitation is open for seven days. */
export const INVITATIONS: readonly { to: string; organization: OrganizationKey; role: 'admin' | 'member'; days: number }[] = [
  { to: 'olga', organization: 'bakery', role: 'member', days: 1 },
  { to: 'peter', organization: 'station', role: 'member', days: 3 },
  { to: 'yusuf', organization: 'cycles', role: 'member', days: 2 },
  { to: 'maud', organization: 'kettle', role: 'admin', days: 4 },
  { to: 'bram', organization: 'light', role: 'member', days: 0.2 },
  { to: 'wilma', organization: 'holding', role: 'admin', days: 5 },
  { to: 'theo', organization: 'bakery', role: 'member', days: 40 },
  { to: 'nora', organization: 'light', role: 'member', days: 75 },
];

/** What owners asked the admin for; those without an outcome wait. */
export const CHANGE_REQUESTS: readonly {
  organization: OrganizationKey;
  asks: {
    name?: string;
    branchName?: string;
    addressLine1?: string;
    postalCode?: string;
    qualification?: [name: string, value: string];
  };
  outcome?: 'approved' | 'rejected';
  days: number;
}[] = [
  { organization: 'bakery', asks: { qualification: ['Organic producer', 'DE-006'] }, outcome: 'approved', days: 200 },
  { organization: 'kettle', asks: { qualification: ['Guild of potters', 'No. 1184'] }, outcome: 'approved', days: 150 },
  { organization: 'cycles', asks: { name: 'Harbour Bikes & Boats' }, outcome: 'rejected', days: 120 },
  { organization: 'workshop', asks: { qualification: ['Electric bicycles', 'Level 2'] }, outcome: 'approved', days: 90 },
  { organization: 'light', asks: { addressLine1: 'Quay 33', postalCode: '2000' }, outcome: 'approved', days: 60 },
  { organization: 'bakery', asks: { qualification: ['Training company', '2026'] }, days: 4 },
  { organization: 'old-town', asks: { branchName: 'Old Town and garden' }, days: 2 },
  { organization: 'kiln', asks: { addressLine1: 'Canal Side 4', postalCode: 'ST4 7QQ' }, days: 1 },
];
