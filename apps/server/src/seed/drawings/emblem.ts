import { WHITE, around, line, lighter, oval, shape, tone, type Colour, type Painter } from './canvas.js';

/** The sign of an organization or a channel. */
export type Sign =
  'wheat' | 'wheel' | 'pot' | 'lamp' | 'anchor' | 'book' | 'star' | 'speech' | 'flag' | 'flame' | 'gear' | 'leaf';

const PAINTED: Record<Sign, (colour: Colour) => string[]> = {
  wheat: (colour) => [
    line('M300 470 V170', colour, 20),
    ...[0, 1, 2, 3].flatMap(
      (at) =>
      [-1, 1].map((way) => oval([300 + way * 54, 220 + at * 58], [50, 23], colour, `transform="rotate(${way * -48} ${300 + way * 54} ${220 + at * 58})"`)), // prettier-ignore
    ),
    oval([300, 150], [24, 48], colour),
  ],
  wheel: (colour) => [
    oval([300, 300], [158, 158], 'none', `stroke="${tone(colour)}" stroke-width="34"`),
    ...around(6, [300, 300], [146, 146], 0.5).map(([x, y]) => line(`M300 300 L${x} ${y}`, colour, 12)),
    oval([300, 300], [36, 36], colour),
  ],
  pot: (colour) => [
    shape(
      'M180 320 C180 240 240 210 300 210 C360 210 420 240 420 320 C420 400 370 440 300 440 C230 440 180 400 180 320Z',
      colour,
    ),
    line('M190 270 C110 250 110 390 196 376', colour, 26),
    line('M410 350 C470 336 450 260 500 240', colour, 30),
    line('M230 214 C250 176 350 176 370 214', colour, 18),
    oval([300, 166], [20, 18], colour),
  ],
  lamp: (colour) => [
    shape('M230 150 H370 L440 320 H160Z', colour),
    line('M300 330 V430', colour, 24),
    line('M220 450 H380', colour, 34),
  ],
  anchor: (colour) => [
    oval([300, 160], [36, 36], 'none', `stroke="${tone(colour)}" stroke-width="22"`),
    line('M300 200 V460 M220 250 H380 M150 350 C160 440 230 470 300 470 C370 470 440 440 450 350', colour, 28),
    line('M150 350 l-26 44 M150 350 l50 28 M450 350 l26 44 M450 350 l-50 28', colour, 20),
  ],
  book: (colour) => [
    shape('M130 180 C190 156 260 166 290 196 V450 C260 420 190 410 130 434Z M470 180 C410 156 340 166 310 196 V450 C340 420 410 410 470 434Z', colour), // prettier-ignore
  ],
  star: (colour) => {
    const [outer, inner] = [around(5, [300, 310], [180, 180], -Math.PI / 2), around(5, [300, 310], [78, 78], -Math.PI / 2 + Math.PI / 5)]; // prettier-ignore
    return [shape(`M${outer.flatMap((point, at) => [point, inner[at] ?? point]).map(([x, y]) => `${x} ${y}`).join(' L')}Z`, colour)]; // prettier-ignore
  },
  speech: (colour) => [
    shape('M140 180 H460 C480 180 490 192 490 210 V370 C490 390 480 400 460 400 H320 L230 476 V400 H140 C120 400 110 390 110 370 V210 C110 192 120 180 140 180Z', colour), // prettier-ignore
  ],
  flag: (colour) => [
    line('M190 150 V470', colour, 26),
    shape('M200 160 C270 120 330 210 450 160 V330 C330 380 270 290 200 330Z', colour),
  ],
  flame: (colour) => [
    shape('M300 120 C330 210 440 250 430 370 C424 440 370 480 300 480 C230 480 176 440 170 370 C166 310 210 280 224 220 C250 240 262 262 266 290 C300 250 306 190 300 120Z', colour), // prettier-ignore
  ],
  gear: (colour) => [
    ...around(8, [300, 300], [162, 162]).map(([x, y]) => line(`M300 300 L${x} ${y}`, colour, 52)),
    oval([300, 300], [122, 122], colour),
  ],
  leaf: (colour) => [shape('M150 440 C130 230 260 140 460 150 C470 350 370 470 190 430Z', colour)],
};

/** A sign in white on a coloured ground. */
export function emblem(sign: Sign, ground: Colour): Painter {
  return (c) => {
    c.add(
      `<rect width="600" height="600" fill="${c.fade([
        [0, lighter(ground, 12)],
        [1, lighter(ground, -10)],
      ])}"/>`,
    );
    c.add(oval([150, 110], [300, 300], WHITE, 'opacity="0.09"'), ...PAINTED[sign](WHITE));
    if (sign === 'gear') c.add(oval([300, 300], [50, 50], ground));
    if (sign === 'leaf') c.add(line('M170 460 C220 360 300 270 400 210', ground, 14));
    if (sign === 'speech') for (const x of [220, 300, 380]) c.add(oval([x, 290], [22, 22], ground));
  };
}
