import { INK, STEEL, WHITE, line, lighter, oval, shape, shine, tone, type Colour, type Painter } from './canvas.js';

const RUBBER: Colour = [220, 12, 22];

export const pedals: Painter = (c) => {
  c.shadow(305, 478, 230, 28);
  for (const [x, y, turn] of [
    [196, 236, -14],
    [392, 366, 12],
  ] as const) {
    const parts = [`<rect x="${x - 128}" y="${y - 72}" width="256" height="144" rx="26" fill="${c.fade([[0, lighter(STEEL, 22)], [0.5, STEEL], [1, lighter(STEEL, -20)]])}"/>`]; // prettier-ignore
    for (const dx of [-62, 62]) parts.push(`<rect x="${x + dx - 40}" y="${y - 42}" width="80" height="84" rx="14" fill="${tone(lighter(STEEL, -42))}"/>`); // prettier-ignore
    for (const dx of [-112, -56, 0, 56, 112])
      for (const dy of [-60, 60]) parts.push(oval([x + dx, y + dy], [6, 6], lighter(STEEL, -36)));
    parts.push(`<rect x="${x - 20}" y="${y - 66}" width="40" height="132" rx="12" fill="${tone(lighter(STEEL, 10))}"/>`, line(`M${x + 128} ${y} h52`, lighter(STEEL, -10), 22)); // prettier-ignore
    c.add(`<g transform="rotate(${turn} ${x} ${y})">${parts.join('')}</g>`);
  }
};

/** Pads of rubber with grooves and bolts. */
export function brakePads({ accent }: { accent: Colour }): Painter {
  return (c) => {
    c.shadow(305, 478, 220, 26);
    for (const [x, y, turn] of [
      [280, 230, -10],
      [320, 384, 8],
    ] as const) {
      const parts = [line(`M${x} ${y - 40} v-66`, STEEL, 26), line(`M${x - 22} ${y - 92} h44`, lighter(STEEL, 14), 22)];
      parts.push(`<rect x="${x - 176}" y="${y - 48}" width="352" height="96" rx="34" fill="${c.fade([[0, lighter(RUBBER, 20)], [1, lighter(RUBBER, -10)]], [0, 0, 0.2, 1])}"/>`); // prettier-ignore
      for (const dx of [-110, -66, 66, 110]) parts.push(line(`M${x + dx} ${y - 34} v68`, lighter(RUBBER, -14), 9));
      parts.push(
        line(`M${x - 160} ${y + 40} h320`, accent, 10),
        oval([x, y], [24, 24], c.round(STEEL)),
        oval([x, y], [9, 9], INK),
      );
      c.add(`<g transform="rotate(${turn} ${x} ${y})">${parts.join('')}</g>`);
    }
  };
}

/** Two rolls of tape. */
export function tape({ colour }: { colour: Colour }): Painter {
  return (c) => {
    c.shadow(310, 470, 240, 30);
    c.add(shape('M206 420 C330 470 440 452 548 416 L556 452 C450 494 320 510 190 460Z', c.fade([[0, lighter(colour, -6)], [1, lighter(colour, 8)]]))); // prettier-ignore
    for (const [x, y, r] of [
      [394, 288, 118],
      [206, 324, 138],
    ] as const) {
      c.add(oval([x + 18, y + 8], [r, r], lighter(colour, -24)), oval([x, y], [r, r], c.round(colour)));
      for (const part of [0.86, 0.72, 0.58]) c.add(oval([x, y], [r * part, r * part], 'none', `stroke="${tone(lighter(colour, -14))}" stroke-width="5"`)); // prettier-ignore
      c.add(oval([x, y], [r * 0.42, r * 0.42], [34, 30, 82]), oval([x + 6, y + 5], [r * 0.34, r * 0.34], [30, 20, 40]));
    }
  };
}

/** A helmet with vents and a light. */
export function helmet({ shell }: { shell: Colour }): Painter {
  return (c) => {
    c.shadow(305, 478, 210, 28);
    c.add(line('M176 376 C196 470 300 486 330 478', INK, 13), line('M432 366 C420 440 372 474 332 478', INK, 13), line('M318 478 h34', lighter(INK, 16), 24)); // prettier-ignore
    c.add(shape('M88 346 C82 208 190 128 312 128 C440 128 528 220 528 330 C528 392 470 360 420 372 C330 388 240 378 170 390 C120 396 92 392 88 346Z', c.round(shell))); // prettier-ignore
    for (const d of ['M170 300 C180 236 226 190 286 172 C250 214 232 256 228 306Z', 'M272 298 C276 238 306 192 350 172 C344 214 340 256 344 300Z', 'M386 302 C386 252 396 212 416 188 C456 214 478 254 484 300Z']) c.add(shape(d, lighter(shell, -34)), line(d, lighter(shell, 14), 5, 'opacity="0.7"')); // prettier-ignore
    c.add(line('M96 350 C200 330 400 336 522 338', lighter(shell, -22), 9), `<rect x="492" y="290" width="44" height="34" rx="12" fill="${tone([4, 85, 56])}"/>`, shine(196, 196, [54, 15], -40, 0.4)); // prettier-ignore
  };
}

/** A jacket with a hood and a stripe that reflects. */
export function jacket({ cloth }: { cloth: Colour }): Painter {
  return (c) => {
    const fill = c.fade([[0, lighter(cloth, 12)], [0.6, cloth], [1, lighter(cloth, -14)]]); // prettier-ignore
    const torso = 'M206 170 C240 150 360 150 394 170 L436 232 L420 500 C380 516 220 516 180 500 L164 232Z';
    c.shadow(305, 520, 200, 24);
    c.add(shape('M206 170 C156 190 116 300 92 428 L160 452 C176 390 190 330 200 290Z', lighter(cloth, -6)), shape('M394 170 C444 190 484 300 508 428 L440 452 C424 390 410 330 400 290Z', lighter(cloth, -12))); // prettier-ignore
    c.add(shape('M214 176 C200 100 250 66 300 66 C350 66 400 100 386 176 C360 206 240 206 214 176Z', lighter(cloth, -10)), oval([300, 150], [58, 48], lighter(cloth, -30))); // prettier-ignore
    c.add(shape(torso, fill));
    c.within(torso, line('M140 372 H460', [60, 30, 92], 30), line('M140 372 H460', lighter(STEEL, 20), 8));
    c.add(line('M300 190 V506', lighter(cloth, -26), 9), line('M300 190 V506', lighter(STEEL, 20), 3, 'stroke-dasharray="5 6"'));
    for (const [x, way] of [[226, 1], [374, -1]] as const) c.add(line(`M${x} 420 l${way * 34} 34`, lighter(cloth, -24), 7)); // prettier-ignore
    c.add(
      line('M250 192 C270 212 330 212 350 192', lighter(cloth, 18), 7),
      line('M94 424 l64 24 M506 424 l-64 24', lighter(cloth, -24), 9),
    );
  };
}

/** A bag for the carrier, rolled up at the top. */
export function pannier({ cloth }: { cloth: Colour }): Painter {
  return (c) => {
    c.shadow(305, 498, 190, 28);
    c.add(shape('M150 196 C150 176 450 176 450 196 L470 462 C470 496 130 496 130 462Z', c.round(cloth)));
    c.add(`<rect x="136" y="142" width="328" height="74" rx="34" fill="${c.fade([[0, lighter(cloth, 14)], [1, lighter(cloth, -12)]], [0, 0, 0, 1])}"/>`); // prettier-ignore
    for (const x of [200, 400]) c.add(line(`M${x} 150 V300`, INK, 24), `<rect x="${x - 24}" y="226" width="48" height="40" rx="8" fill="${tone(lighter(INK, 14))}"/>`); // prettier-ignore
    c.add(`<rect x="190" y="336" width="220" height="116" rx="20" fill="${tone(lighter(cloth, -10))}"/>`, line('M206 356 H394', lighter(cloth, -24), 6)); // prettier-ignore
    c.add(
      line('M180 316 H420', [60, 20, 92], 14),
      oval([300, 404], [30, 30], lighter(cloth, 20)),
      shine(170, 300, [12, 80], 2, 0.22),
    );
  };
}

/** Gloves without fingertips. */
export function gloves({ cloth }: { cloth: Colour }): Painter {
  return (c) => {
    c.shadow(305, 506, 220, 26);
    for (const [x, way] of [
      [404, -1],
      [206, 1],
    ] as const) {
      const parts = [-66, -22, 22, 66].map((dx, at) => line(`M${x + dx} 280 V${[196, 166, 172, 206][way > 0 ? at : 3 - at]}`, lighter(cloth, -4), 40)); // prettier-ignore
      parts.push(...[-66, -22, 22, 66].map((dx, at) => oval([x + dx, [182, 152, 158, 192][way > 0 ? at : 3 - at] as number], [19, 9], [26, 46, 68]))); // prettier-ignore
      parts.push(line(`M${x - way * 74} 372 L${x - way * 112} 296`, lighter(cloth, -8), 46));
      parts.push(shape(`M${x - 90} 260 H${x + 90} L${x + 82} 420 C${x + 40} 436 ${x - 40} 436 ${x - 82} 420Z`, c.round(cloth)));
      parts.push(`<rect x="${x - 84}" y="410" width="168" height="66" rx="16" fill="${tone(lighter(cloth, -20))}"/>`, line(`M${x - 30} 442 h92`, WHITE, 22, 'opacity="0.85"')); // prettier-ignore
      for (const dx of [-50, 0, 50]) parts.push(oval([x + dx, 316], [17, 26], lighter(cloth, -14)));
      c.add(`<g transform="rotate(${way * -7} ${x} 340)">${parts.join('')}</g>`);
    }
  };
}

/** A lock: a shackle in its body. */
export function lock({ body }: { body: Colour }): Painter {
  return (c) => {
    c.shadow(305, 500, 190, 28);
    const way = 'M190 400 V230 C190 80 410 80 410 230 V400';
    c.add(line(way, lighter(STEEL, -30), 50), line(way, lighter(STEEL, -16), 34), line('M182 400 V230 C186 110 340 86 390 160', lighter(STEEL, 22), 8, 'opacity="0.7"')); // prettier-ignore
    c.add(`<rect x="112" y="356" width="376" height="120" rx="56" fill="${c.fade([[0, lighter(body, 18)], [0.4, body], [1, lighter(body, -18)]], [0, 0, 0, 1])}"/>`); // prettier-ignore
    c.add(
      line('M160 382 H440', WHITE, 10, 'opacity="0.35"'),
      oval([300, 418], [30, 30], c.round(STEEL)),
      line('M300 408 V430', INK, 10),
    );
    for (const x of [126, 474]) c.add(oval([x, 416], [14, 54], lighter(body, -22), 'opacity="0.6"'));
  };
}

/** A bottle for drinking on the way. */
export function bottle({ colour }: { colour: Colour }): Painter {
  return (c) => {
    const outline = 'M206 216 C206 190 394 190 394 216 V292 C394 316 372 316 372 340 C372 364 394 364 394 388 V474 C394 504 206 504 206 474 V388 C206 364 228 364 228 340 C228 316 206 316 206 292Z'; // prettier-ignore
    c.shadow(305, 500, 160, 26);
    c.add(`<rect x="266" y="84" width="68" height="66" rx="16" fill="${tone(lighter(INK, 10))}"/>`, `<rect x="248" y="122" width="104" height="44" rx="12" fill="${tone(INK)}"/>`); // prettier-ignore
    c.add(shape('M206 216 C206 150 394 150 394 216Z', lighter(INK, 6)));
    c.add(shape(outline, c.fade([[0, lighter(colour, 6)], [0.28, lighter(colour, 20)], [0.6, colour], [1, lighter(colour, -20)]], [0, 0, 1, 0]))); // prettier-ignore
    c.within(outline, line('M180 440 C250 410 350 470 420 432', WHITE, 20, 'opacity="0.75"'), line('M180 250 H420', WHITE, 6, 'opacity="0.5"')); // prettier-ignore
    c.add(line('M240 232 V290 M240 396 V470', WHITE, 12, 'opacity="0.5"'));
  };
}
