import { SKINS, type Face } from '../drawings/portrait.js';
import type { Colour } from '../drawings/canvas.js';

export const DOMAIN = 'example.org';

/** Somebody, by the local part of the address. */
export interface SeedPerson {
  name: string;
  city: string;
  face: Face;
  /** Days ago that the account was made; most are older than the first order. */
  joined?: number;
}

const HAIR = { black: [20, 20, 12], brown: [24, 48, 24], chestnut: [16, 50, 32], red: [14, 66, 42], blond: [42, 62, 62], grey: [220, 8, 66], white: [40, 10, 88] } as const satisfies Record<string, Colour>; // prettier-ignore
const CLOTH = { teal: [178, 48, 38], navy: [220, 42, 34], mustard: [42, 72, 52], brick: [8, 54, 48], plum: [318, 30, 40], moss: [100, 26, 40], sand: [34, 34, 68], slate: [210, 14, 44], sky: [204, 62, 58] } as const satisfies Record<string, Colour>; // prettier-ignore
type Wall = 'mint' | 'peach' | 'lilac' | 'blue' | 'lemon' | 'rose';
const WALLS: Record<Wall, Colour> = { mint: [158, 40, 68], peach: [22, 76, 74], lilac: [262, 44, 76], blue: [204, 58, 70], lemon: [48, 80, 70], rose: [344, 58, 76] }; // prettier-ignore

function face(
  skin: 0 | 1 | 2 | 3 | 4,
  hair: keyof typeof HAIR | Colour,
  style: Face['style'],
  shirt: keyof typeof CLOTH,
  wall: Wall,
  more: Pick<Face, 'beard' | 'glasses'> = {},
): Face {
  const colour = typeof hair === 'string' ? HAIR[hair] : hair;
  return { skin: SKINS[skin] as Colour, hair: colour, style, shirt: CLOTH[shirt], background: WALLS[wall], ...more };
}

/** Everybody with an account, the admin first. */
export const PEOPLE = {
  admin: { name: 'Robin Vale', city: 'Hamburg', face: face(1, 'brown', 'side', 'slate', 'blue', { glasses: true }) },
  helena: { name: 'Helena Quay', city: 'Hamburg', face: face(0, 'grey', 'bob', 'navy', 'lilac', { glasses: true }) },
  jonas: { name: 'Jonas Feld', city: 'Hamburg', face: face(0, 'blond', 'side', 'sky', 'lemon') },
  martha: { name: 'Martha Brandt', city: 'Berlin', face: face(0, 'chestnut', 'bun', 'brick', 'peach') },
  nils: { name: 'Nils Ahrens', city: 'Berlin', face: face(1, 'blond', 'beanie', 'moss', 'mint', { beard: true }) },
  rosa: { name: 'Rosa Marino', city: 'Berlin', face: face(2, 'black', 'curls', 'mustard', 'rose'), joined: 118 },
  tarik: { name: 'Tarik Aydin', city: 'Berlin', face: face(2, 'black', 'short', 'teal', 'blue', { beard: true }), joined: 240 },
  oscar: { name: 'Oscar Bell', city: 'Portland', face: face(3, 'black', 'bald', 'mustard', 'mint', { beard: true }) },
  paula: { name: 'Paula Reyes', city: 'Portland', face: face(2, 'brown', 'long', 'teal', 'lemon') },
  quinn: { name: 'Quinn Harper', city: 'Portland', face: face(0, 'red', 'short', 'navy', 'peach') },
  sora: { name: 'Sora Tanaka', city: 'Stoke-on-Trent', face: face(1, 'black', 'bob', 'plum', 'mint') },
  edith: { name: 'Edith Moss', city: 'Stoke-on-Trent', face: face(0, 'white', 'bun', 'moss', 'rose', { glasses: true }) },
  iris: { name: 'Iris de Vries', city: 'Antwerp', face: face(0, 'blond', 'long', 'slate', 'blue') },
  liam: { name: 'Liam Okafor', city: 'Antwerp', face: face(4, 'black', 'short', 'brick', 'lemon', { glasses: true }) },
  ada: { name: 'Ada Lindqvist', city: 'Malmö', face: face(0, 'brown', 'bob', 'mustard', 'mint', { glasses: true }) },
  ben: { name: 'Ben Mensah', city: 'London', face: face(4, 'black', 'curls', 'sky', 'peach') },
  clara: { name: 'Clara Weiss', city: 'Vienna', face: face(0, 'red', 'long', 'moss', 'lilac') },
  david: { name: 'David Cohen', city: 'Seattle', face: face(1, 'brown', 'side', 'navy', 'lemon', { beard: true }) },
  emma: { name: 'Emma Laurent', city: 'Lyon', face: face(1, 'chestnut', 'bun', 'sky', 'rose'), joined: 330 },
  farid: {
    name: 'Farid Haddad',
    city: 'Berlin',
    face: face(2, 'black', 'short', 'sand', 'blue', { beard: true, glasses: true }),
    joined: 310,
  },
  greta: { name: 'Greta Holm', city: 'Oslo', face: face(0, 'white', 'bob', 'plum', 'lemon'), joined: 290 },
  hugo: { name: 'Hugo Silva', city: 'Lisbon', face: face(2, 'grey', 'bald', 'teal', 'peach', { glasses: true }), joined: 260 },
  ines: { name: 'Ines Duarte', city: 'Porto', face: face(3, 'black', 'long', 'brick', 'blue'), joined: 200 },
  karim: {
    name: 'Karim Nasser',
    city: 'Brussels',
    face: face(2, 'black', 'beanie', 'slate', 'rose', { beard: true }),
    joined: 170,
  },
  lena: { name: 'Lena Novak', city: 'Prague', face: face(0, 'blond', 'curls', 'plum', 'mint', { glasses: true }), joined: 140 },
  samira: { name: 'Samira Bashir', city: 'Bristol', face: face(3, [200, 46, 46], 'scarf', 'sand', 'lemon'), joined: 95 },
} as const satisfies Record<string, SeedPerson>;

export type Who = keyof typeof PEOPLE;

/** Those who buy, in the order in which they have joined. */
export const CUSTOMERS = ['ada', 'ben', 'clara', 'david', 'emma', 'farid', 'greta', 'hugo', 'ines', 'karim', 'lena', 'samira'] as const satisfies readonly Who[]; // prettier-ignore
