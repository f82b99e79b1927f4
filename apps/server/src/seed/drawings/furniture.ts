import { STEEL, WHITE, WOOD, line, lighter, oval, shape, shine, tone, type Canvas, type Colour, type Painter } from './canvas.js';

const LIGHT: Colour = [44, 95, 78];

/** The light of a lamp around a point. */
function glowAt(c: Canvas, x: number, y: number, r: number): void {
  c.add(oval([x, y], [r, r], c.glow([[0, LIGHT, 0.75], [0.4, LIGHT, 0.32], [1, LIGHT, 0]]))); // prettier-ignore
}

/** A shade that glows from inside. */
function litShade(c: Canvas, colour: Colour): string {
  return c.fade([[0, lighter(colour, -4)], [0.55, lighter(colour, 10)], [1, [44, 90, 84]]], [0, 0, 0, 1]); // prettier-ignore
}

/** A lamp with a shade of fabric on a foot of pottery. */
export function tableLamp({ shade, foot }: { shade: Colour; foot: Colour }): Painter {
  return (c) => {
    c.shadow(300, 478, 150, 24);
    glowAt(c, 300, 230, 230);
    c.add(line('M300 270 V330', STEEL, 14), oval([300, 474], [92, 18], lighter(foot, -18)));
    c.add(shape('M262 318 C220 340 205 380 205 416 C205 460 250 474 300 474 C350 474 395 460 395 416 C395 380 380 340 338 318Z', c.round(foot))); // prettier-ignore
    c.add(shine(246, 400, [13, 40], 14));
    c.add(
      shape('M226 110 H374 L446 286 C420 304 180 304 154 286Z', litShade(c, shade)),
      oval([300, 110], [74, 12], lighter(shade, 16)),
    );
    c.add(line('M154 286 C180 304 420 304 446 286', lighter(shade, -14), 5), line('M400 330 V372', STEEL, 3), oval([400, 378], [6, 6], STEEL)); // prettier-ignore
  };
}

/** A lamp that hangs from the ceiling: a dome, or a globe of glass. */
export function pendant({ shade, isGlobe = false }: { shade: Colour; isGlobe?: boolean }): Painter {
  return (c) => {
    c.add(line('M300 0 V150', [220, 12, 30], 6));
    glowAt(c, 300, 380, 240);
    if (isGlobe) {
      c.add(
        oval(
          [300, 320],
          [150, 150],
          c.glow(
            [
              [0, [46, 100, 94]],
              [0.6, lighter(shade, 8)],
              [1, lighter(shade, -10)],
            ],
            [0.5, 0.55, 0.6],
          ),
        ),
      );
      c.add(shape('M262 178 H338 L330 140 H270Z', [38, 40, 46]), shine(240, 255, [22, 50], 34, 0.6));
    } else {
      const beam = c.fade(
        [
          [0, LIGHT, 0.7],
          [1, LIGHT, 0],
        ],
        [0, 0, 0, 1],
      );
      c.add(shape('M120 358 L480 358 L560 600 H40Z', beam, 'opacity="0.55"'));
      c.add(shape('M112 352 C112 230 210 176 300 176 C390 176 488 230 488 352Z', c.round(shade)));
      c.add(
        oval([300, 352], [188, 30], lighter(shade, -22)),
        oval([300, 354], [166, 22], [46, 100, 88]),
        oval([300, 356], [46, 22], WHITE),
      );
      c.add(shape('M270 184 C272 150 328 150 330 184Z', [38, 40, 46]), shine(206, 262, [20, 60], 42, 0.4));
    }
  };
}

/** A lamp on three legs. */
export function floorLamp({ shade, wood = WOOD }: { shade: Colour; wood?: Colour }): Painter {
  return (c) => {
    c.shadow(300, 540, 150, 20);
    glowAt(c, 300, 170, 230);
    c.add(line('M300 240 L206 536', wood, 15), line('M300 240 L394 536', lighter(wood, -10), 15), line('M300 240 L316 530', lighter(wood, 8), 15)); // prettier-ignore
    c.add(line('M244 420 H358', lighter(wood, -14), 7), oval([300, 250], [24, 16], STEEL));
    c.add(
      shape('M214 70 H386 L432 232 C400 248 200 248 168 232Z', litShade(c, shade)),
      oval([300, 70], [86, 12], lighter(shade, 16)),
    );
    c.add(line('M168 232 C200 248 400 248 432 232', lighter(shade, -14), 5));
  };
}

/** A lamp for a desk, with joints. */
export function deskLamp({ metal }: { metal: Colour }): Painter {
  return (c) => {
    c.shadow(236, 482, 150, 22);
    const beam = c.fade(
      [
        [0, LIGHT, 0.75],
        [1, LIGHT, 0],
      ],
      [0, 0, 0.4, 1],
    );
    c.add(shape('M372 246 L508 206 L600 480 L400 540Z', beam, 'opacity="0.6"'));
    c.add(oval([230, 474], [112, 24], lighter(metal, -16)), oval([230, 464], [112, 24], c.round(metal)));
    c.add(line('M230 460 L166 300', lighter(metal, -8), 15), line('M166 300 L342 168', lighter(metal, 4), 15));
    for (const [x, y] of [[166, 300], [342, 168], [230, 458]] as const) c.add(oval([x, y], [17, 17], STEEL), oval([x, y], [7, 7], lighter(STEEL, -30))); // prettier-ignore
    c.add(`<g transform="rotate(-17 420 190)">${shape('M340 250 C344 168 384 132 424 132 C464 132 504 168 508 250Z', c.round(metal))}${oval([424, 250], [84, 16], [46, 100, 86])}${shape('M404 136 C404 110 444 110 444 136Z', lighter(metal, -10))}${shine(382, 192, [12, 34], 24)}</g>`); // prettier-ignore
  };
}

/** A chair: with a back of slats, or a shell. */
export function chair({ wood = WOOD, seat, hasShell = false }: { wood?: Colour; seat: Colour; hasShell?: boolean }): Painter {
  return (c) => {
    c.shadow(305, 538, 190, 26);
    c.add(line('M206 360 L190 500', lighter(wood, -16), 17), line('M392 352 L420 492', lighter(wood, -20), 17));
    if (hasShell) {
      c.add(line('M196 372 L166 536', wood, 17), line('M400 380 L432 536', lighter(wood, -8), 17));
      c.add(shape('M170 120 C170 70 430 70 430 120 C440 210 424 270 416 322 C446 344 440 396 400 400 C340 412 260 412 200 400 C160 396 154 344 184 322 C176 270 160 210 170 120Z', c.fade([[0, lighter(seat, 12)], [0.55, seat], [1, lighter(seat, -18)]], [0.1, 0, 0.5, 1]))); // prettier-ignore
      c.add(line('M186 326 C240 352 360 352 414 326', lighter(seat, -20), 7, 'opacity="0.5"'), shine(228, 190, [20, 66], 6, 0.3));
      return;
    }
    c.add(line('M186 96 L194 360', lighter(wood, -6), 20), line('M414 96 L406 360', lighter(wood, -10), 20));
    for (const x of [236, 279, 321, 364]) c.add(line(`M${x} 130 L${x} 340`, lighter(wood, 2), 10));
    c.add(
      line('M182 112 C240 92 360 92 418 112', lighter(wood, 8), 38),
      line('M190 104 C240 88 360 88 410 104', lighter(wood, 20), 6),
    );
    c.add(line('M168 380 L150 538', wood, 20), line('M432 380 L450 538', lighter(wood, -8), 20), line('M158 462 H442', lighter(wood, -14), 9)); // prettier-ignore
    c.add(shape('M186 330 H414 L452 392 C452 412 148 412 148 392Z', c.fade([[0, lighter(seat, 10)], [1, lighter(seat, -12)]], [0, 0, 0.3, 1]))); // prettier-ignore
    c.add(line('M148 394 C160 412 440 412 452 394', lighter(seat, -24), 9));
  };
}

/** A wide chair with cushions. */
export function armchair({ cloth, wood = WOOD }: { cloth: Colour; wood?: Colour }): Painter {
  return (c) => {
    c.shadow(305, 520, 250, 32);
    for (const x of [140, 460]) c.add(line(`M${x} 460 L${x + (x < 300 ? -14 : 14)} 516`, wood, 20));
    const front = c.fade(
      [
        [0, lighter(cloth, 10)],
        [1, lighter(cloth, -14)],
      ],
      [0, 0, 0.3, 1],
    );
    c.add(`<rect x="130" y="130" width="340" height="280" rx="70" fill="${c.fade([[0, lighter(cloth, 6)], [1, lighter(cloth, -16)]])}"/>`); // prettier-ignore
    c.add(line('M300 150 V330', lighter(cloth, -16), 4, 'opacity="0.6"'), oval([216, 240], [8, 8], lighter(cloth, -20)), oval([384, 240], [8, 8], lighter(cloth, -20))); // prettier-ignore
    c.add(`<rect x="150" y="320" width="300" height="90" rx="34" fill="${front}"/>`, line('M176 404 H424', lighter(cloth, -20), 4, 'opacity="0.5"')); // prettier-ignore
    c.add(`<rect x="150" y="396" width="300" height="70" rx="14" fill="${tone(lighter(cloth, -12))}"/>`);
    for (const x of [84, 428]) c.add(`<rect x="${x}" y="262" width="88" height="208" rx="42" fill="${front}"/>`, oval([x + 44, 300], [30, 26], lighter(cloth, 12), 'opacity="0.6"')); // prettier-ignore
  };
}

/** A round seat, or a table top, on three legs. */
export function stool({ wood = WOOD, top, isTable = false }: { wood?: Colour; top: Colour; isTable?: boolean }): Painter {
  return (c) => {
    const [y, rx] = isTable ? [250, 205] : [262, 140];
    c.shadow(305, 522, rx, 24);
    c.add(line(`M300 ${y} L312 500`, lighter(wood, -18), 18));
    c.add(line(`M${300 - rx * 0.55} ${y} L${300 - rx * 0.86} 522`, wood, 20), line(`M${300 + rx * 0.55} ${y} L${300 + rx * 0.86} 522`, lighter(wood, -8), 20)); // prettier-ignore
    if (!isTable) c.add(line('M206 408 H394', lighter(wood, -14), 10));
    c.add(
      oval([300, y + 20], [rx, rx * 0.27], lighter(top, -20)),
      oval(
        [300, y],
        [rx, rx * 0.27],
        c.fade([
          [0, lighter(top, 14)],
          [1, lighter(top, -6)],
        ]),
      ),
    );
    c.add(oval([300, y], [rx * 0.7, rx * 0.18], 'none', `stroke="${tone(lighter(top, -10))}" stroke-width="3" opacity="0.6"`));
  };
}
