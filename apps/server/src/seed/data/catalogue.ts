import { BAKERY_GOODS } from './bakery-goods.js';
import { CYCLE_GOODS } from './cycle-goods.js';
import type { Shelf } from './goods.js';
import { HOME_GOODS } from './home-goods.js';
import { TABLE_GOODS } from './table-goods.js';

/** A shop's currency and goods, and how its year goes. */
export interface Range {
  currency: string;
  /** The category above those of its shelves. */
  department: readonly [name: string, description: string];
  shelves: readonly Shelf[];
  orders: number;
  /** How much is bought on each day of the week, from Sunday on. */
  week: readonly number[];
  /** How much is bought in each month, from January on. */
  months: readonly number[];
  /** How many times as much is bought at the end of the year as at its beginning. */
  growth: number;
  /** Pieces of a line, at most. */
  pieces: number;
}

const EVEN = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];

export const RANGES = {
  bakery: {
    currency: 'EUR',
    department: ['Food', 'What is eaten'],
    shelves: BAKERY_GOODS,
    orders: 250,
    week: [6, 0, 3, 3.5, 4, 7, 10],
    months: EVEN,
    growth: 2.6,
    pieces: 5,
  },
  cycles: {
    currency: 'USD',
    department: ['Cycling', 'What rolls, and what it needs'],
    shelves: CYCLE_GOODS,
    orders: 130,
    week: [5, 3, 3, 3, 4, 5, 9],
    months: [0.5, 0.6, 1.1, 1.6, 1.9, 1.8, 1.6, 1.4, 1.1, 0.8, 0.6, 0.9],
    growth: 1.9,
    pieces: 2,
  },
  kettle: {
    currency: 'GBP',
    department: ['Table', 'What tea is made in, and tea'],
    shelves: TABLE_GOODS,
    orders: 110,
    week: [4, 3, 3, 3, 3, 4, 7],
    months: [0.9, 0.9, 0.9, 0.8, 0.9, 0.7, 0.6, 0.7, 1, 1.2, 1.7, 2.4],
    growth: 2.2,
    pieces: 3,
  },
  light: {
    currency: 'EUR',
    department: ['Home', 'What a room needs'],
    shelves: HOME_GOODS,
    orders: 70,
    week: [6, 2, 2, 2, 3, 4, 6],
    months: [1.3, 1.2, 1, 0.8, 0.7, 0.6, 0.6, 0.8, 1.2, 1.5, 1.7, 1.5],
    growth: 1.6,
    pieces: 2,
  },
} as const satisfies Record<string, Range>;

export type ShopKey = keyof typeof RANGES;

/** Groups of attributes, by name. */
export const ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Allergens of bread': { gluten: 'yes', sesame: 'traces', nuts: 'traces', milk: 'no' },
  'Allergens of cakes': { gluten: 'yes', eggs: 'yes', milk: 'yes', nuts: 'traces' },
  'Frame and brakes': { frame: 'steel or aluminium', brakes: 'disc, hydraulic', warranty: 'ten years', maximum: '130 kg' },
  'Care of pottery': { dishwasher: 'yes, but gently', microwave: 'no', oven: 'up to 200 °C' },
  Light: { socket: 'E27', temperature: '2700 K', dimmable: 'yes', cable: '2 m, textile' },
  'Care of wood': { oil: 'twice a year', cleaning: 'a damp cloth', origin: 'Ardennes, certified' },
};

/** Texts to answer with: of a shop, or of all. */
export const TEMPLATES: readonly { of: ShopKey | undefined; title: string; content: string }[] = [
  { of: undefined, title: 'Welcome', content: 'Welcome! Ask anything; somebody of the shop answers within a day.' },
  { of: undefined, title: 'Out of office', content: 'Thank you for writing. We are back tomorrow at nine.' },
  { of: undefined, title: 'Rules of the channel', content: 'Be kind, stay on the subject, and no advertisements please.' },
  {
    of: 'bakery',
    title: 'Pre-order',
    content: 'Gladly! Order by six in the evening, and it is ready from seven in the morning.',
  },
  { of: 'bakery', title: 'Sold out', content: 'That one is gone for today. Shall we put one aside for you tomorrow?' },
  { of: 'cycles', title: 'Ready to collect', content: 'Your bicycle is ready. We are open until seven; bring the slip, please.' },
  { of: 'cycles', title: 'Estimate', content: 'We had a look: parts and work come to the amount below. Shall we begin?' },
  { of: 'kettle', title: 'Broken on the way', content: 'We are sorry! Send us a picture, and a new one leaves tomorrow.' },
  { of: 'light', title: 'Delivery', content: 'Our carrier calls you the day before, and carries it up to your room.' },
];
