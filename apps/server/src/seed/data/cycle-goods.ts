import { bell, bicycle, chain, saddle, tyre } from '../drawings/bicycles.js';
import { bottle, brakePads, gloves, helmet, jacket, lock, pannier, pedals, tape } from '../drawings/gear.js';
import { choice, item, type Shelf } from './goods.js';

export const CYCLE_GOODS: readonly Shelf[] = [
  {
    category: 'Bicycles',
    description: 'Ready to ride',
    attributes: ['Frame and brakes'],
    items: [
      item('City bicycle', 'Seven gears, lights, rack', 640, 190, bicycle({ frame: [186, 58, 40], isLow: true, basket: true }), { S: 640, M: 640, L: 660 }), // prettier-ignore
      item('Touring bicycle', 'Steel frame, for long roads', 1480, 90, bicycle({ frame: [142, 38, 32], bars: 'drop', panniers: [30, 60, 46] }), { M: 1480, L: 1480 }), // prettier-ignore
      item('Gravel bicycle', 'Wide tyres, disc brakes', 1890, 28, bicycle({ frame: [20, 80, 50], bars: 'drop', tyre: 22 }), { S: 1890, M: 1890, L: 1890 }), // prettier-ignore
      item('Cargo bicycle', 'For two children or eight crates', 2950, 214, bicycle({ frame: [220, 34, 32], box: [34, 52, 60] })),
      item('Children’s bicycle', '20 inches', 290, 330, bicycle({ frame: [340, 70, 56], wheels: 86 })),
      item('Folding bicycle', 'Folds in ten seconds', 1150, 54, bicycle({ frame: [46, 88, 50], wheels: 74, isLow: true })),
    ],
  },
  {
    category: 'Parts',
    description: 'To replace and to improve',
    items: [
      item('Chain', 'For 9 to 11 gears', 28.5, 214, chain),
      item('Inner tube', 'With repair kit', 7.9, 200, tyre({ isTube: true }), { '26 inches': 7.5, '28 inches': 7.9 }),
      item('Tyre', 'Puncture protection', 39.9, 24, tyre({ side: [30, 52, 56] })),
      item('Saddle', 'Leather', 89, 34, saddle),
      item('Pedals', 'Aluminium, pair', 46, 204, pedals),
      item('Brake pads', 'Pair', 14.5, 8, brakePads({ accent: [8, 72, 50] })),
      item('Bell', 'Brass', 19.9, 170, bell),
      choice('Handlebar tape', 'Cork', 17, 20, { Cork: tape({ colour: [30, 44, 56] }), Brick: tape({ colour: [10, 58, 46] }), Night: tape({ colour: [226, 26, 30] }) }), // prettier-ignore
    ],
  },
  {
    category: 'Clothing and bags',
    description: 'For rain and for luggage',
    items: [
      item('Helmet', 'With light', 74, 206, helmet({ shell: [202, 70, 48] }), { S: 74, M: 74, L: 74 }),
      item('Rain jacket', 'Breathes', 119, 212, jacket({ cloth: [46, 90, 54] }), { S: 119, M: 119, L: 119, XL: 125 }),
      choice('Pannier', '20 litres, waterproof', 68, 140, { Moss: pannier({ cloth: [130, 34, 34] }), Rust: pannier({ cloth: [16, 62, 46] }) }), // prettier-ignore
      item('Gloves', 'Without fingers', 24.5, 220, gloves({ cloth: [218, 26, 34] })),
      item('Lock', 'Hardened steel', 79, 10, lock({ body: [8, 72, 48] })),
      choice('Bottle', '750 ml', 11.9, 180, { Teal: bottle({ colour: [180, 60, 42] }), Coral: bottle({ colour: [10, 76, 58] }), Sand: bottle({ colour: [38, 50, 62] }) }), // prettier-ignore
    ],
  },
];
