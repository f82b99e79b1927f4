import { bowl, cup, jar, paperBag, teapot, vase } from '../drawings/pottery.js';
import { choice, item, type Shelf } from './goods.js';

/** What Kettle & Clay sells. */
export const TABLE_GOODS: readonly Shelf[] = [
  {
    category: 'Teapots',
    description: 'For two cups, or for ten',
    attributes: ['Care of pottery'],
    items: [
      choice('Round teapot', 'Holds 0.9 litres, pours without a drop', 64, 36, {
        Sea: teapot({ glaze: [190, 46, 44], band: [42, 60, 88] }),
        Clay: teapot({ glaze: [14, 50, 50], band: [38, 50, 86] }),
        Moss: teapot({ glaze: [96, 26, 38], band: [52, 46, 84] }),
      }),
      item('Tall pot', 'For coffee too, 1.4 litres', 78, 206, teapot({ glaze: [40, 40, 86], form: 'tall', band: [210, 52, 40] })),
      item('Iron kettle', 'Cast, enamelled inside', 112, 26, teapot({ glaze: [222, 14, 25], form: 'iron', band: [30, 46, 50] })),
    ],
  },
  {
    category: 'Cups and bowls',
    description: 'Thrown one by one, no two alike',
    attributes: ['Care of pottery'],
    items: [
      choice('Cup and saucer', 'Holds a quarter of a litre', 26, 214, {
        Cream: cup({ glaze: [42, 46, 88], band: [206, 52, 44] }),
        Sea: cup({ glaze: [190, 46, 44], band: [42, 60, 88] }),
        Rose: cup({ glaze: [348, 44, 72], band: [350, 50, 48] }),
      }),
      choice('Tumbler', 'Without a handle, for warm hands', 18, 150, {
        Celadon: cup({ glaze: [150, 26, 58], isTumbler: true, band: [42, 40, 88] }),
        Ink: cup({ glaze: [226, 36, 30], isTumbler: true, band: [200, 50, 62], tea: [90, 46, 38] }),
      }),
      item(
        'Breakfast bowl',
        'Deep enough for porridge',
        24,
        20,
        bowl({ glaze: [24, 36, 76], band: [10, 54, 50], filling: [40, 60, 78] }),
      ),
      item('Serving bowl', 'Cobalt, 28 centimetres', 58, 44, bowl({ glaze: [218, 58, 38], band: [42, 50, 90] })),
      item('Bud vase', 'For what the garden gives', 32, 330, vase({ glaze: [342, 34, 66], band: [42, 40, 92] })),
    ],
  },
  {
    category: 'Tea',
    description: 'From gardens that we have visited',
    items: [
      item('Tea caddy', 'Airtight, 150 grams', 21, 100, jar({ content: [162, 36, 32], lid: [42, 62, 52], isTin: true })),
      item('Green tea', 'Sencha, first picking', 14.5, 96, paperBag({ paper: [34, 40, 70], label: [112, 40, 38] }), { '50 g': 14.5, '200 g': 49 }), // prettier-ignore
      item('Black tea', 'Assam, strong', 11, 16, paperBag({ paper: [26, 36, 58], label: [8, 62, 42] }), { '100 g': 11, '250 g': 24 }), // prettier-ignore
      item('Chamomile', 'Whole flowers', 9.5, 50, paperBag({ paper: [40, 46, 78], label: [44, 84, 54] })),
    ],
  },
];
