/** A category and its products: name, description, price in whole units, and variants by title and price. */
export interface Shelf {
  category: string;
  description: string;
  products: readonly (readonly [name: string, description: string, price: number, variants?: Readonly<Record<string, number>>])[];
}

export interface Shop {
  name: string;
  description: string;
  contact_email: string;
  contact_phone: string;
  owner: string;
  staff: readonly string[];
  currency: string;
  shelves: readonly Shelf[];
}

/** Local parts of the people's email addresses. */
export const CUSTOMERS = ['ada', 'ben', 'clara', 'david', 'emma', 'farid', 'greta', 'hugo'] as const;
export const DOMAIN = 'example.org';

/** Two shops with 20 products each: enough for paging, filtering and grouping. */
export const SHOPS: readonly Shop[] = [
  {
    name: 'Mill Street Bakery',
    description: 'Bread and cakes from a wood-fired oven, every morning but Monday',
    contact_email: `bakery@${DOMAIN}`,
    contact_phone: '+49 30 5550 101',
    owner: 'martha',
    staff: ['nils'],
    currency: 'EUR',
    shelves: [
      {
        category: 'Bread',
        description: 'Loaves and rolls',
        products: [
          ['Rye loaf', 'Dark sourdough, baked for two hours', 4.8, { '500 g': 4.8, '1 kg': 8.9 }],
          ['Wheat loaf', 'Light crumb, thin crust', 3.9, { '500 g': 3.9, '1 kg': 7.2 }],
          ['Spelt loaf', 'With sunflower seeds', 5.6],
          ['Baguette', 'Long proof, crisp crust', 2.4],
          ['Ciabatta', 'With olive oil', 2.9],
          ['Poppy roll', 'For breakfast', 0.85],
          ['Pretzel', 'With coarse salt', 1.1],
          ['Walnut bread', 'With roasted walnuts', 6.2],
        ],
      },
      {
        category: 'Cakes',
        description: 'By the slice or whole',
        products: [
          ['Apple cake', 'Covered, with cinnamon', 3.2, { Slice: 3.2, Whole: 29 }],
          ['Cheesecake', 'Baked, with lemon', 3.6, { Slice: 3.6, Whole: 32 }],
          ['Carrot cake', 'With walnuts and frosting', 3.8, { Slice: 3.8, Whole: 34 }],
          ['Plum tart', 'From July to October', 3.4],
          ['Brownie', 'Dark, and damp inside', 2.7],
          ['Lemon loaf', 'Glazed', 12.5],
          ['Croissant', 'With butter', 1.9],
          ['Cinnamon bun', 'Swedish', 2.6],
        ],
      },
      {
        category: 'Pantry',
        description: 'What keeps',
        products: [
          ['Strawberry jam', '250 g', 4.5],
          ['Honey', 'From the roof, 500 g', 9.8],
          ['Rusks', '300 g', 3.3],
          ['Sourdough starter', 'With instructions', 5],
        ],
      },
    ],
  },
  {
    name: 'Harbour Cycles',
    description: 'Bicycles, parts and a workshop by the old harbour',
    contact_email: `cycles@${DOMAIN}`,
    contact_phone: '+1 503 555 0142',
    owner: 'oscar',
    staff: ['paula', 'quinn'],
    currency: 'USD',
    shelves: [
      {
        category: 'Bicycles',
        description: 'Ready to ride',
        products: [
          ['City bicycle', 'Seven gears, lights, rack', 640, { S: 640, M: 640, L: 660 }],
          ['Touring bicycle', 'Steel frame, for long roads', 1480, { M: 1480, L: 1480 }],
          ['Gravel bicycle', 'Wide tyres, disc brakes', 1890, { S: 1890, M: 1890, L: 1890 }],
          ['Cargo bicycle', 'For two children or eight crates', 2950],
          ['Children’s bicycle', '20 inches', 290],
          ['Folding bicycle', 'Folds in ten seconds', 1150],
        ],
      },
      {
        category: 'Parts',
        description: 'To replace and to improve',
        products: [
          ['Chain', 'For 9 to 11 gears', 28.5],
          ['Inner tube', 'With repair kit', 7.9, { '26 inches': 7.5, '28 inches': 7.9 }],
          ['Tyre', 'Puncture protection', 39.9],
          ['Saddle', 'Leather', 89],
          ['Pedals', 'Aluminium, pair', 46],
          ['Brake pads', 'Pair', 14.5],
          ['Bell', 'Brass', 19.9],
          ['Handlebar tape', 'Cork', 17],
        ],
      },
      {
        category: 'Clothing and bags',
        description: 'For rain and for luggage',
        products: [
          ['Helmet', 'With light', 74, { S: 74, M: 74, L: 74 }],
          ['Rain jacket', 'Breathes', 119, { S: 119, M: 119, L: 119, XL: 125 }],
          ['Pannier', '20 litres, waterproof', 68],
          ['Gloves', 'Without fingers', 24.5],
          ['Lock', 'Hardened steel, 1 m', 79],
          ['Bottle', '750 ml', 11.9],
        ],
      },
    ],
  },
];
