import { baguette, croissant, glazedLoaf, loaf, pretzel, roll, rusks, slice, squares, swirl, tart } from '../drawings/bakery.js';
import { jar } from '../drawings/pottery.js';
import { item, type Shelf } from './goods.js';

export const BAKERY_GOODS: readonly Shelf[] = [
  {
    category: 'Bread',
    description: 'Loaves and rolls',
    attributes: ['Allergens of bread'],
    items: [
      item('Rye loaf', 'Dark sourdough, baked for two hours', 4.8, 36, loaf({ crust: [22, 50, 27] }), { '500 g': 4.8, '1 kg': 8.9 }), // prettier-ignore
      item('Wheat loaf', 'Light crumb, thin crust', 3.9, 46, loaf({ crust: [33, 64, 54], cuts: 4 }), {
        '500 g': 3.9,
        '1 kg': 7.2,
      }),
      item('Spelt loaf', 'With sunflower seeds', 5.6, 96, loaf({ crust: [28, 52, 42], cuts: 1, seeds: [42, 44, 80] })),
      item('Baguette', 'Long proof, crisp crust', 2.4, 210, baguette({})),
      item('Ciabatta', 'With olive oil', 2.9, 140, baguette({ isFlat: true, crust: [36, 54, 60] })),
      item('Poppy roll', 'For breakfast', 0.85, 200, roll({ seeds: [230, 20, 22] })),
      item('Pretzel', 'With coarse salt', 1.1, 42, pretzel),
      item(
        'Walnut bread',
        'With roasted walnuts',
        6.2,
        20,
        loaf({ crust: [24, 48, 36], isTin: true, cuts: 0, seeds: [26, 46, 24] }),
      ),
    ],
  },
  {
    category: 'Cakes',
    description: 'By the slice or whole',
    attributes: ['Allergens of cakes'],
    items: [
      item('Apple cake', 'Covered, with cinnamon', 3.2, 90, slice({ layers: [[34, 58, 58], [46, 72, 74], [46, 66, 70], [34, 58, 60]], icing: [32, 62, 62] }), { Slice: 3.2, Whole: 29 }), // prettier-ignore
      item('Cheesecake', 'Baked, with lemon', 3.6, 350, slice({ layers: [[28, 50, 46], [48, 72, 86], [48, 70, 88]], icing: [46, 84, 88], topping: [350, 70, 46] }), { Slice: 3.6, Whole: 32 }), // prettier-ignore
      item('Carrot cake', 'With walnuts and frosting', 3.8, 26, slice({ layers: [[24, 58, 40], [40, 40, 94], [24, 58, 40], [40, 40, 94], [24, 58, 40]], icing: [40, 50, 95], topping: [26, 80, 52] }), { Slice: 3.8, Whole: 34 }), // prettier-ignore
      item('Plum tart', 'From July to October', 3.4, 300, tart({ fruit: [320, 46, 40] })),
      item('Brownie', 'Dark, and damp inside', 2.7, 18, squares({ cake: [20, 50, 22] })),
      item('Lemon loaf', 'Glazed', 12.5, 204, glazedLoaf({ cake: [38, 66, 56], glaze: [50, 60, 96], fruit: [50, 90, 58] })),
      item('Croissant', 'With butter', 1.9, 40, croissant),
      item('Cinnamon bun', 'Swedish', 2.6, 190, swirl({})),
    ],
  },
  {
    category: 'Pantry',
    description: 'What keeps',
    items: [
      item('Strawberry jam', '250 g', 4.5, 346, jar({ content: [352, 72, 44], lid: [0, 60, 52] })),
      item('Honey', 'From the roof, 500 g', 9.8, 48, jar({ content: [40, 88, 50], lid: [36, 46, 46] })),
      item('Rusks', '300 g', 3.3, 36, rusks),
      item('Sourdough starter', 'With instructions', 5, 120, jar({ content: [42, 34, 84], lid: [30, 40, 50] })),
    ],
  },
];
