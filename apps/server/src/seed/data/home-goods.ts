import { armchair, chair, deskLamp, floorLamp, pendant, stool, tableLamp } from '../drawings/furniture.js';
import { choice, item, type Shelf } from './goods.js';

/** What North Light sells. */
export const HOME_GOODS: readonly Shelf[] = [
  {
    category: 'Lamps',
    description: 'Warm light, and where it is needed',
    attributes: ['Light'],
    items: [
      choice('Harbour table lamp', 'Linen on a glazed foot', 129, 220, {
        Teal: tableLamp({ shade: [40, 60, 80], foot: [188, 44, 36] }),
        Terracotta: tableLamp({ shade: [38, 54, 82], foot: [14, 54, 46] }),
      }),
      choice('Dome pendant', 'Spun steel, 40 centimetres', 189, 160, {
        Pine: pendant({ shade: [164, 42, 26] }),
        Brick: pendant({ shade: [10, 58, 44] }),
        Chalk: pendant({ shade: [44, 26, 86] }),
      }),
      item('Moon pendant', 'Blown glass', 245, 232, pendant({ shade: [44, 60, 80], isGlobe: true })),
      item('Tripod lamp', 'Oak, 150 centimetres', 319, 262, floorLamp({ shade: [20, 62, 62] })),
      item('Desk lamp', 'Turns where you want it', 98, 200, deskLamp({ metal: [8, 64, 48] })),
    ],
  },
  {
    category: 'Seating',
    description: 'To read in, to eat on',
    attributes: ['Care of wood'],
    items: [
      item('Slat chair', 'Oiled oak', 210, 42, chair({ seat: [30, 46, 54] })),
      choice('Shell chair', 'Moulded, stackable', 165, 204, {
        Sky: chair({ seat: [204, 52, 46], hasShell: true }),
        Mustard: chair({ seat: [44, 76, 50], hasShell: true }),
        Rose: chair({ seat: [350, 46, 62], hasShell: true }),
      }),
      choice('Reading chair', 'Wool, with deep arms', 690, 120, {
        Forest: armchair({ cloth: [152, 32, 32] }),
        Plum: armchair({ cloth: [318, 28, 36] }),
      }),
      item('Stool', 'Three legs never wobble', 89, 22, stool({ top: [30, 50, 60] })),
      item('Side table', 'Smoked oak', 145, 346, stool({ top: [24, 38, 38], wood: [24, 36, 32], isTable: true })),
    ],
  },
];
