import { WHITE, line, lighter, oval, shape, tone, type Canvas, type Colour, type Painter } from './canvas.js';

/** A time of day: the sky from the top down, and the land. */
const SKIES: Record<'morning' | 'noon' | 'evening', readonly [Colour, Colour, Colour]> = {
  morning: [
    [205, 60, 78],
    [28, 90, 84],
    [150, 24, 42],
  ],
  noon: [
    [208, 74, 62],
    [200, 70, 86],
    [128, 34, 42],
  ],
  evening: [
    [255, 40, 38],
    [18, 85, 66],
    [220, 28, 28],
  ],
};

function sky(c: Canvas, [top, low]: readonly [Colour, Colour, Colour], [sunX, sunY]: readonly [number, number]): void {
  c.add(
    `<rect width="600" height="600" fill="${c.fade(
      [
        [0, top],
        [0.7, low],
      ],
      [0, 0, 0, 1],
    )}"/>`,
  );
  c.add(oval([sunX, sunY], [190, 190], c.glow([[0, [44, 100, 88], 0.9], [0.3, [44, 100, 80], 0.5], [1, [44, 100, 80], 0]])), oval([sunX, sunY], [44, 44], [46, 100, 92])); // prettier-ignore
}

/** Boats in a harbour. */
export function harbour(time: keyof typeof SKIES): Painter {
  const colours = SKIES[time];
  const [top, low, land] = colours;
  return (c) => {
    sky(c, colours, [430, 210]);
    c.add(shape('M0 330 C80 290 140 310 220 322 C320 290 420 300 600 316 V360 H0Z', lighter(land, 12)));
    for (const [x, w, h, hue] of [
      [30, 60, 70, 8],
      [92, 48, 100, 36],
      [142, 70, 62, 210],
      [214, 50, 86, 350],
    ] as const) {
      c.add(`<rect x="${x}" y="${340 - h}" width="${w}" height="${h}" fill="${tone([hue, 46, 58])}"/>`, shape(`M${x - 6} ${340 - h} L${x + w / 2} ${312 - h} L${x + w + 6} ${340 - h}Z`, [14, 38, 36])); // prettier-ignore
      for (const dy of [14, 40]) if (dy < h - 10) c.add(`<rect x="${x + w / 2 - 8}" y="${340 - h + dy}" width="16" height="16" fill="${tone([46, 80, 84])}"/>`); // prettier-ignore
    }
    c.add(
      `<rect y="340" width="600" height="260" fill="${c.fade(
        [
          [0, lighter(low, -8)],
          [1, lighter(top, -26)],
        ],
        [0, 0, 0, 1],
      )}"/>`,
    );
    for (const [x, y, w] of [[380, 372, 110], [60, 400, 150], [300, 440, 190], [120, 490, 130], [400, 530, 170]] as const) c.add(line(`M${x} ${y} h${w}`, WHITE, 5, 'opacity="0.3"')); // prettier-ignore
    for (const [x, y, size, hue] of [[420, 420, 1, 4], [190, 470, 1.3, 212]] as const) // prettier-ignore
      c.add(`<g transform="translate(${x} ${y}) scale(${size})">${shape('M-90 0 H90 C80 40 60 52 40 52 H-44 C-66 52 -82 34 -90 0Z', [hue, 56, 42])}${line('M-6 0 V-190', [30, 40, 34], 7)}${shape('M2 -182 L84 -18 H2Z', [40, 40, 95])}${shape('M-16 -160 L-72 -18 H-16Z', [40, 30, 86])}${line('M-86 12 H84', WHITE, 5)}</g>`); // prettier-ignore
  };
}

/** A road through hills. */
export function hills(time: keyof typeof SKIES): Painter {
  const colours = SKIES[time];
  const [, , land] = colours;
  return (c) => {
    sky(c, colours, [180, 170]);
    c.add(shape('M0 350 C120 230 230 250 330 320 C430 220 520 240 600 310 V600 H0Z', lighter(land, 22)));
    c.add(shape('M0 420 C140 330 280 360 380 410 C470 350 540 360 600 390 V600 H0Z', lighter(land, 10)), shape('M0 500 C160 430 400 440 600 500 V600 H0Z', land)); // prettier-ignore
    c.add(shape('M250 600 C330 520 420 500 360 452 C320 424 290 420 306 392 L318 392 C306 418 352 424 390 452 C452 500 420 540 400 600Z', [36, 26, 80])); // prettier-ignore
    for (const [x, y, s] of [[90, 470, 1], [150, 500, 1.3], [520, 470, 1.2], [460, 420, 0.7], [60, 420, 0.6]] as const) // prettier-ignore
      c.add(`<g transform="translate(${x} ${y}) scale(${s})">${line('M0 0 V30', [26, 40, 26], 8)}${shape('M0 -80 L34 8 H-34Z', lighter(land, -12))}${shape('M0 -96 L24 -34 H-24Z', lighter(land, -4))}</g>`); // prettier-ignore
  };
}
