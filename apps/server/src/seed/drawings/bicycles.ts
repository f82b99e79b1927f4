import { INK, STEEL, WOOD, around, line, lighter, oval, shape, tone, type Canvas, type Colour, type Painter } from './canvas.js';

const RUBBER: Colour = [220, 12, 20];
const LEATHER: Colour = [24, 50, 34];

function wheel(c: Canvas, [x, y]: readonly [number, number], r: number, tyre = 14): void {
  c.add(oval([x, y], [r, r], 'none', `stroke="${tone(RUBBER)}" stroke-width="${tyre}"`));
  c.add(oval([x, y], [r - tyre / 2 - 2, r - tyre / 2 - 2], 'none', `stroke="${tone(lighter(STEEL, 16))}" stroke-width="5"`));
  for (const [tx, ty] of around(18, [x, y], [r - 10, r - 10], 0.1))
    c.add(line(`M${x} ${y} L${tx} ${ty}`, lighter(STEEL, 6), 1.6));
  c.add(oval([x, y], [9, 9], c.round(STEEL)));
}

function chainSet(c: Canvas, [x, y]: readonly [number, number], [rearX, rearY]: readonly [number, number]): void {
  c.add(line(`M${rearX} ${rearY - 12} L${x} ${y - 26} M${rearX} ${rearY + 12} L${x} ${y + 26}`, lighter(STEEL, -34), 4));
  c.add(oval([x, y], [29, 29], 'none', `stroke="${tone(lighter(STEEL, -22))}" stroke-width="7"`), oval([x, y], [10, 10], STEEL));
  c.add(line(`M${x - 20} ${y - 40} L${x + 22} ${y + 44}`, lighter(STEEL, -12), 9));
  for (const [px, py] of [[x - 22, y - 44], [x + 24, y + 48]] as const) c.add(line(`M${px - 15} ${py} h30`, RUBBER, 9)); // prettier-ignore
}

/** What sets one kind of bicycle apart from another. */
interface Kind {
  frame: Colour;
  bars?: 'upright' | 'drop';
  /** Radius of the wheels. */
  wheels?: number;
  tyre?: number;
  /** A frame that is easy to step through. */
  isLow?: boolean;
  basket?: boolean;
  panniers?: Colour;
  box?: Colour;
}

/** A bicycle, seen from the side. */
export function bicycle(kind: Kind): Painter {
  const { frame, bars = 'upright', wheels = 112, tyre = 14, isLow = false, basket = false, panniers, box } = kind;
  return (c) => {
    const ground = 474;
    const [rear, front] = [[150, ground - wheels], [box ? 484 : 450, ground - (box ? 70 : wheels)]] as const; // prettier-ignore
    const crank = [box ? 258 : 282, Math.min(ground - 70, rear[1] + 34)] as const;
    const [seat, head] = [[232, 214], [box ? 348 : 402, isLow ? 236 : 226]] as const; // prettier-ignore
    const dark = lighter(frame, -14);
    c.shadow(300, ground + 12, 290, 22);
    wheel(c, rear, wheels, tyre);
    wheel(c, front, box ? 70 : wheels, tyre);
    c.add(
      line(`M${rear[0]} ${rear[1]} L${seat[0] + 8} ${seat[1] + 26} M${rear[0]} ${rear[1]} L${crank[0]} ${crank[1]}`, dark, 10),
    );
    if (panniers)
      c.add(`<rect x="86" y="226" width="112" height="120" rx="20" fill="${c.round(panniers)}"/>`, line('M88 262 H196', lighter(panniers, -18), 6), line('M112 222 H226', INK, 7)); // prettier-ignore
    else c.add(line(`M110 ${rear[1] - wheels - 18} H222`, lighter(STEEL, -26), 7));
    c.add(line(`M${seat[0] - 6} ${seat[1] - 22} L${crank[0]} ${crank[1]}`, frame, 14));
    const down = isLow ? `M${head[0] + 4} ${head[1] + 34} C${head[0] - 40} 380 ${crank[0] + 60} ${crank[1] - 10} ${crank[0]} ${crank[1]}` : `M${head[0] + 3} ${head[1] + 34} L${crank[0]} ${crank[1]} M${head[0]} ${head[1] + 12} L${seat[0]} ${seat[1] + 18}`; // prettier-ignore
    c.add(line(down, frame, 15), line(down, lighter(frame, 20), 3, 'opacity="0.7"'));
    if (box) {
      c.add(shape(`M350 300 H556 L530 412 H372Z`, c.fade([[0, lighter(box, 10)], [1, lighter(box, -14)]])), line('M346 300 H560', lighter(box, -22), 10)); // prettier-ignore
      c.add(line(`M${head[0]} ${head[1]} L366 408 L${front[0]} ${front[1]}`, dark, 11));
    } else c.add(line(`M${head[0] - 4} ${head[1] - 8} L${head[0] + 10} ${head[1] + 46} Q${front[0] - 26} ${front[1] - 60} ${front[0]} ${front[1]}`, dark, 11)); // prettier-ignore
    chainSet(c, crank, rear);
    c.add(line(`M${seat[0] - 8} ${seat[1] - 20} L${seat[0] - 14} ${seat[1] - 44}`, STEEL, 9));
    c.add(shape(`M${seat[0] - 66} ${seat[1] - 58} C${seat[0] - 30} ${seat[1] - 68} ${seat[0] + 20} ${seat[1] - 60} ${seat[0] + 44} ${seat[1] - 52} C${seat[0] + 30} ${seat[1] - 40} ${seat[0] - 50} ${seat[1] - 26} ${seat[0] - 66} ${seat[1] - 58}Z`, LEATHER)); // prettier-ignore
    const [hx, hy] = [head[0] - 8, head[1] - 12];
    if (bars === 'drop') c.add(line(`M${hx} ${hy} L${hx - 4} ${hy - 34} L${hx + 34} ${hy - 40} C${hx + 84} ${hy - 40} ${hx + 76} ${hy + 26} ${hx + 34} ${hy + 20}`, RUBBER, 11)); // prettier-ignore
    else c.add(line(`M${hx} ${hy} L${hx - 8} ${hy - 56}`, STEEL, 9), line(`M${hx - 8} ${hy - 56} C${hx + 34} ${hy - 76} ${hx + 20} ${hy - 92} ${hx - 62} ${hy - 74}`, STEEL, 8), line(`M${hx - 62} ${hy - 74} l34 -8`, LEATHER, 14)); // prettier-ignore
    if (basket) {
      c.add(
        shape(
          `M${hx + 18} ${hy - 50} h104 l-14 78 h-76Z`,
          c.fade([
            [0, lighter(WOOD, 14)],
            [1, lighter(WOOD, -10)],
          ]),
        ),
      );
      for (const y of [-30, -8, 12]) c.add(line(`M${hx + 24} ${hy + y} h90`, lighter(WOOD, -18), 3));
    }
  };
}

/** A wheel's tyre, or the tube that goes into one. */
export function tyre({ isTube = false, side = RUBBER }: { isTube?: boolean; side?: Colour }): Painter {
  return (c) => {
    c.shadow(300, 520, 220, 24);
    const r = isTube ? 158 : 178;
    const ring = (colour: Colour, width: number, more = '') =>
      oval([300, 310], [r, r], 'none', `stroke="${tone(colour)}" stroke-width="${width}" ${more}`);
    if (isTube) {
      c.add(ring(lighter(RUBBER, -6), 58), ring(lighter(RUBBER, 4), 42), ring(lighter(RUBBER, 20), 10, 'opacity="0.6" transform="translate(-8 -10)"')); // prettier-ignore
      c.add(line('M300 180 V236', STEEL, 12), line('M300 226 V246', lighter(STEEL, 20), 18));
    } else {
      c.add(ring(RUBBER, 66), ring(lighter(RUBBER, 12), 64, 'stroke-dasharray="15 11"'), ring(lighter(RUBBER, -6), 44));
      c.add(oval([300, 310], [144, 144], 'none', `stroke="${tone(side)}" stroke-width="16"`), ring(lighter(RUBBER, 34), 4, 'opacity="0.5"')); // prettier-ignore
    }
  };
}

export const chain: Painter = (c) => {
  const loop =
    'M170 210 C280 120 450 150 468 262 C484 370 360 372 330 318 C300 262 190 262 150 340 C112 420 220 490 330 462 C400 444 440 430 486 450';
  c.shadow(310, 494, 220, 24);
  c.add(line(loop, lighter(STEEL, -40), 34), line(loop, STEEL, 28, 'stroke-dasharray="1 33"'), line(loop, lighter(STEEL, 22), 14, 'stroke-dasharray="1 33"')); // prettier-ignore
  c.add(`<path d="${loop}" fill="none" stroke="${tone(lighter(STEEL, 8))}" stroke-width="16" stroke-dasharray="18 16" stroke-dashoffset="-8"/>`); // prettier-ignore
};

export const saddle: Painter = (c) => {
  const top =
    'M90 250 C110 196 220 214 300 222 C380 230 470 226 516 262 C520 280 480 288 430 286 C340 286 270 360 160 372 C96 374 76 310 90 250Z';
  c.shadow(305, 470, 220, 26);
  c.add(line('M190 366 C240 440 330 430 350 372 L430 292', lighter(STEEL, -8), 12), line('M214 356 C260 410 330 400 346 356 L414 286', lighter(STEEL, 14), 8)); // prettier-ignore
  for (const x of [136, 186]) c.add(line(`M${x} 368 c-8 30 26 30 18 60`, lighter(STEEL, -16), 10));
  c.add(
    shape(
      top,
      c.fade(
        [
          [0, lighter(LEATHER, 20)],
          [0.5, LEATHER],
          [1, lighter(LEATHER, -14)],
        ],
        [0.2, 0, 0.5, 1],
      ),
    ),
  );
  c.add(line('M118 268 C220 244 360 262 484 266', lighter(LEATHER, 26), 5, 'opacity="0.7"'));
  for (const [x, y] of [[118, 300], [132, 340], [476, 268]] as const) c.add(oval([x, y], [8, 8], c.round([38, 60, 58]))); // prettier-ignore
};

export const bell: Painter = (c) => {
  const brass: Colour = [42, 72, 54];
  c.shadow(305, 470, 180, 26);
  c.add(line('M220 424 H380', lighter(STEEL, -30), 46), line('M220 414 H380', lighter(STEEL, -10), 10, 'opacity="0.6"'));
  c.add(line('M390 372 C450 360 470 330 478 296', lighter(STEEL, -6), 16), oval([480, 288], [22, 18], c.round(STEEL)));
  c.add(oval([300, 376], [172, 36], lighter(brass, -28)), shape('M128 370 C128 236 214 166 300 166 C386 166 472 236 472 370 C430 400 170 400 128 370Z', c.round(brass))); // prettier-ignore
  c.add(
    line('M140 366 C190 394 410 394 460 366', lighter(brass, -18), 7),
    oval([300, 168], [30, 17], c.round(lighter(brass, -6))),
  );
  c.add(oval([214, 256], [26, 70], [50, 90, 92], 'opacity="0.75" transform="rotate(34 214 256)"'));
};
