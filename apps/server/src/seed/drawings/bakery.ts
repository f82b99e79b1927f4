import { WHITE, around, line, lighter, oval, shape, shine, strewn, tone, type Colour, type Painter } from './canvas.js';

const CRUST: Colour = [28, 58, 44];
const CRUMB: Colour = [38, 62, 84];
const SHADE: Colour = [24, 50, 22];

/** A loaf: oval or from a tin, with cuts, flour or seeds. */
export function loaf({
  crust = CRUST,
  seeds,
  isTin = false,
  cuts = 3,
}: {
  crust?: Colour;
  seeds?: Colour;
  isTin?: boolean;
  cuts?: number;
}): Painter {
  const outline = isTin
    ? 'M120 290 C92 240 140 200 200 212 C250 190 350 190 400 212 C460 200 508 240 480 290 L464 424 C460 452 140 452 136 424Z'
    : 'M92 350 C92 250 185 205 300 205 C415 205 508 250 508 350 C508 420 430 448 300 448 C170 448 92 420 92 350Z';
  return (c) => {
    c.shadow(305, 452, 245, 34);
    c.add(
      shape(
        outline,
        c.glow(
          [
            [0, lighter(crust, 18)],
            [0.5, crust],
            [1, lighter(crust, -18)],
          ],
          [0.42, 0.3, 0.75],
        ),
      ),
    );
    for (let at = 0; at < cuts; at++) {
      const x = 300 + (at - (cuts - 1) / 2) * 96;
      const cut = `M${x - 34} 250 C${x - 12} 285 ${x + 4} 320 ${x + 22} 372 C${x + 34} 330 ${x + 16} 280 ${x - 34} 250Z`;
      c.add(shape(cut, c.fade([[0, CRUMB], [1, lighter(crust, 22)]])), line(`M${x - 34} 250 C${x - 12} 285 ${x + 4} 320 ${x + 22} 372`, lighter(crust, -14), 4)); // prettier-ignore
    }
    if (seeds)
      for (const [x, y] of strewn(64, [300, 290], [165, 62])) c.add(oval([x, y], [9, 4.5], seeds, `transform="rotate(${(x * 7 + y) % 180} ${x} ${y})"`)); // prettier-ignore
    else for (const [x, y] of strewn(46, [300, 270], [160, 46])) c.add(oval([x, y], [5, 3], WHITE, 'opacity="0.45"'));
    c.add(shine(190, 262, [62, 17], -22, 0.22));
  };
}

const FLAT =
  'M104 330 C92 250 150 222 220 230 C300 212 380 220 440 232 C506 236 516 290 500 340 C494 402 440 412 380 404 C300 418 220 414 170 406 C120 402 108 380 104 330Z';

/** A long loaf that lies across. */
export function baguette({ crust = CRUST, isFlat = false }: { crust?: Colour; isFlat?: boolean }): Painter {
  return (c) => {
    const [long, high] = isFlat ? [200, 92] : [262, 56];
    c.shadow(310, 420, isFlat ? 225 : 250, 30);
    const turn = isFlat ? -6 : -24;
    const fill = c.fade([[0, lighter(crust, 22)], [0.5, crust], [1, lighter(crust, -18)]], [0, 0, 0, 1]); // prettier-ignore
    const parts = isFlat
      ? [shape(FLAT, fill), line('M150 262 C230 240 380 240 460 262', lighter(crust, 22), 9, 'opacity="0.5"')]
      : [`<rect x="${300 - long}" y="${320 - high}" width="${2 * long}" height="${2 * high}" rx="${high}" fill="${fill}"/>`];
    const cuts = isFlat ? 0 : 5;
    for (let at = 0; at < cuts; at++) {
      const x = 300 + (at - 2) * 92;
      parts.push(
        shape(`M${x - 52} 330 C${x - 26} 280 ${x + 22} 280 ${x + 50} 296 C${x + 20} 306 ${x - 16} 316 ${x - 52} 330Z`, CRUMB),
      );
      parts.push(line(`M${x - 52} 330 C${x - 16} 316 ${x + 20} 306 ${x + 50} 296`, lighter(crust, -14), 4));
    }
    for (const [x, y] of strewn(isFlat ? 90 : 30, [300, 312], [long - 24, high - 20])) parts.push(oval([x, y], [isFlat ? 12 - (x % 5) : 4, isFlat ? 4 : 3], WHITE, 'opacity="0.4"')); // prettier-ignore
    c.add(`<g transform="rotate(${turn} 300 320)">${parts.join('')}</g>`);
  };
}

/** A round roll with seeds, and one behind it. */
export function roll({ crust = CRUST, seeds }: { crust?: Colour; seeds: Colour }): Painter {
  return (c) => {
    c.shadow(310, 440, 230, 34);
    for (const [cx, cy, r] of [
      [398, 318, 112],
      [232, 334, 138],
    ] as const) {
      c.add(
        oval(
          [cx, cy],
          [r, r * 0.76],
          c.glow(
            [
              [0, lighter(crust, 24)],
              [0.6, crust],
              [1, lighter(crust, -16)],
            ],
            [0.4, 0.3, 0.75],
          ),
        ),
      );
      c.add(line(`M${cx - r * 0.6} ${cy - r * 0.1} Q${cx} ${cy - r * 0.42} ${cx + r * 0.6} ${cy - r * 0.1}`, lighter(crust, -14), 5, 'opacity="0.6"')); // prettier-ignore
      for (const [x, y] of strewn(60, [cx, cy - r * 0.18], [r * 0.78, r * 0.46])) c.add(oval([x, y], [4, 4], seeds));
    }
  };
}

export const pretzel: Painter = (c) => {
  const d = 'M196 430 C262 356 412 330 446 250 C472 168 372 128 300 206 C228 128 128 168 154 250 C188 330 338 356 404 430';
  const belly = 'M150 250 C128 330 150 424 240 436 C280 442 320 442 360 436 C450 424 472 330 450 250';
  c.shadow(305, 452, 210, 30);
  for (const way of [belly, d]) {
    c.add(line(way, [20, 62, 22], 58), line(way, [24, 62, 34], 50), line(way, [28, 62, 46], 26), line(way, [32, 66, 60], 7));
  }
  const salt = [[170, 220], [206, 168], [262, 190], [338, 190], [394, 170], [430, 222], [424, 282], [176, 282], [300, 438], [250, 434], [352, 434], [300, 346], [250, 376], [352, 376], [160, 330], [440, 330]] as const; // prettier-ignore
  for (const [x, y] of salt) c.add(`<rect x="${x - 6}" y="${y - 5}" width="12" height="10" rx="2" fill="${tone([40, 30, 97])}" transform="rotate(${(x * 3) % 90} ${x} ${y})"/>`); // prettier-ignore
};

/** A slice of cake: its layers from the bottom up, and berries on top. */
export function slice({ layers, icing, topping }: { layers: readonly Colour[]; icing: Colour; topping?: Colour }): Painter {
  return (c) => {
    c.shadow(310, 462, 250, 34);
    c.add(oval([305, 456], [240, 34], [210, 20, 96]), oval([305, 452], [206, 24], [210, 18, 90]));
    const [bottom, top] = [446, 286];
    const step = (bottom - top) / layers.length;
    for (const [at, colour] of layers.entries()) {
      const [y, up] = [bottom - at * step, bottom - (at + 1) * step];
      const fill = c.fade(
        [
          [0, lighter(colour, 8)],
          [1, lighter(colour, -8)],
        ],
        [0, 0, 1, 0],
      );
      c.add(shape(`M118 ${y - 30} L470 ${y} L470 ${up - 1} L118 ${up - 31}Z`, fill));
    }
    const fill = c.fade([
      [0, lighter(icing, 8)],
      [1, lighter(icing, -8)],
    ]);
    c.add(shape('M112 250 L398 178 C450 200 474 240 476 296 L118 266Z', fill));
    c.add(shape('M118 256 L476 288 L476 316 C462 336 448 316 436 322 C420 330 410 306 392 312 C372 320 362 300 340 304 C312 310 300 290 276 296 C250 300 244 284 216 286 C190 290 150 276 118 276Z', lighter(icing, -6))); // prettier-ignore
    if (topping) for (const [x, y] of [[352, 218], [412, 226], [388, 258], [310, 244], [436, 264]] as const) c.add(oval([x, y], [24, 21], c.round(topping)), shine(x - 7, y - 7, [6, 4], -30, 0.7)); // prettier-ignore
  };
}

/** A round tart with slices of fruit. */
export function tart({ fruit, crust = [34, 62, 60] }: { fruit: Colour; crust?: Colour }): Painter {
  return (c) => {
    c.shadow(305, 440, 250, 40);
    c.add(shape('M70 316 C70 416 180 448 300 448 C420 448 530 416 530 316Z', c.fade([[0, crust], [1, lighter(crust, -24)]], [0, 0, 1, 0.4]))); // prettier-ignore
    for (const [x, y] of around(34, [300, 316], [224, 104])) c.add(oval([x, y], [24, 20], c.round(crust)));
    c.add(
      oval(
        [300, 316],
        [206, 92],
        c.glow([
          [0, lighter(fruit, 14)],
          [1, lighter(fruit, -14)],
        ]),
      ),
    );
    for (const [ring, count] of [
      [0.78, 16],
      [0.42, 9],
    ] as const)
      for (const [x, y] of around(count, [300, 316], [206 * ring, 92 * ring], ring)) {
        const turn = (Math.atan2(y - 316, x - 300) * 180) / Math.PI + 70;
        c.add(
          oval(
            [x, y],
            [36, 16],
            c.fade([
              [0, lighter(fruit, 22)],
              [1, fruit],
            ]),
            `transform="rotate(${turn} ${x} ${y})"`,
          ),
        );
      }
    c.add(oval([300, 314], [30, 15], lighter(fruit, 22)), shine(220, 270, [60, 12], -14, 0.3));
  };
}

/** Squares of a dark cake, stacked. */
export function squares({ cake }: { cake: Colour }): Painter {
  return (c) => {
    c.shadow(305, 456, 220, 34);
    for (const [x, y] of [
      [196, 318],
      [402, 318],
      [298, 216],
    ] as const) {
      c.add(
        shape(
          `M${x - 118} ${y} L${x} ${y - 52} L${x + 118} ${y} L${x} ${y + 52}Z`,
          c.fade([
            [0, lighter(cake, 14)],
            [1, lighter(cake, 4)],
          ]),
        ),
      );
      c.add(shape(`M${x - 118} ${y} L${x} ${y + 52} L${x} ${y + 128} L${x - 118} ${y + 74}Z`, lighter(cake, -2)));
      c.add(shape(`M${x + 118} ${y} L${x} ${y + 52} L${x} ${y + 128} L${x + 118} ${y + 74}Z`, lighter(cake, -10)));
      c.add(line(`M${x - 60} ${y + 2} l34 -14 l26 18 l30 -20`, lighter(cake, -8), 4));
      for (const [dx, dy] of strewn(12, [x - 58, y + 78], [44, 24])) c.add(oval([dx, dy], [6, 4], lighter(cake, -12)));
    }
  };
}

/** A cake from a loaf tin, under a glaze. */
export function glazedLoaf({ cake, glaze, fruit }: { cake: Colour; glaze: Colour; fruit: Colour }): Painter {
  return (c) => {
    loaf({ crust: cake, isTin: true, cuts: 0 })(c);
    c.add(shape('M128 262 C108 222 150 196 202 210 C250 188 350 188 398 210 C452 196 492 222 472 262 C470 306 446 318 438 284 C424 262 408 300 398 330 C386 352 368 320 362 292 C344 272 330 290 322 316 C308 338 294 310 288 286 C270 270 250 300 240 344 C224 360 212 320 204 292 C186 272 172 306 158 300 C142 296 136 280 128 262Z', c.fade([[0, glaze], [1, lighter(glaze, -7)]]))); // prettier-ignore
    for (const [x, y] of [
      [214, 232],
      [300, 222],
      [386, 232],
    ] as const) {
      c.add(oval([x, y], [38, 17], fruit), oval([x, y], [31, 13], lighter(fruit, 24)));
      for (const [tx, ty] of around(7, [x, y], [26, 10])) c.add(line(`M${x} ${y} L${tx} ${ty}`, fruit, 3));
    }
  };
}

export const croissant: Painter = (c) => {
  const crust: Colour = [30, 66, 52];
  c.shadow(305, 432, 245, 34);
  const parts = [-3, 3, -2, 2, -1, 1, 0].map((at) => {
    const [x, y] = [300 + at * 68, 318 + at * at * 13];
    const r = 106 - Math.abs(at) * 21;
    const fill = c.fade([[0, lighter(crust, 24)], [0.5, crust], [1, lighter(crust, -22)]], [0, 0, 0.25, 1]); // prettier-ignore
    const turn = `transform="rotate(${at * 19} ${x} ${y})"`;
    return `<g ${turn}>${oval([x, y], [58, r], lighter(crust, -26))}${oval([x, y], [54, r - 3], fill)}${line(`M${x - 20} ${y - r * 0.7} Q${x - 34} ${y} ${x - 20} ${y + r * 0.6}`, lighter(crust, 26), 5, 'opacity="0.7"')}</g>`; // prettier-ignore
  });
  c.add(...parts);
};

/** A bun that is rolled up, with sugar. */
export function swirl({ crust = [30, 58, 56], filling = [20, 56, 30] }: { crust?: Colour; filling?: Colour }): Painter {
  return (c) => {
    c.shadow(305, 452, 220, 36);
    c.add(oval([300, 336], [206, 118], lighter(crust, -16)), oval([300, 312], [206, 124], c.round(crust)));
    const points = Array.from({ length: 90 }, (_, at) => {
      const [angle, far] = [at * 0.235, 14 + at * 1.95];
      return `${(300 + far * Math.cos(angle)).toFixed(0)} ${(308 + far * 0.6 * Math.sin(angle)).toFixed(0)}`;
    });
    const way = `M${points.join(' L')}`;
    c.add(line(way, filling, 15), line(way, lighter(filling, 22), 3, 'opacity="0.6"'));
    for (const [x, y] of strewn(52, [300, 300], [180, 100])) c.add(`<rect x="${x - 5}" y="${y - 4}" width="10" height="8" rx="2" fill="${tone(WHITE)}" transform="rotate(${(x * 5) % 90} ${x} ${y})"/>`); // prettier-ignore
  };
}

/** Dried slices of bread, leaning on each other. */
export const rusks: Painter = (c) => {
  c.shadow(305, 456, 240, 34);
  for (const at of [0, 1, 2, 3]) {
    const x = 130 + at * 84;
    const outline = 'M0 60 C-18 10 30 -22 76 -8 C122 -22 170 10 152 60 L146 186 C144 202 8 202 6 186Z';
    const place = `transform="translate(${x} 256) skewX(-12)"`;
    c.add(`<g ${place}>${shape(outline, SHADE, 'transform="translate(16 3)"')}${shape(outline, CRUST)}${shape(outline, c.fade([[0, [38, 70, 78]], [1, [34, 62, 62]]]), 'transform="translate(9 9) scale(0.88)"')}${strewn(16, [76, 96], [50, 70]).map(([px, py]) => oval([px, py], [6, 4], [30, 50, 50], 'opacity="0.5"')).join('')}</g>`); // prettier-ignore
  }
};
