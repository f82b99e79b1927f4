import { WHITE, closer, WOOD, line, lighter, oval, shape, shine, strewn, tone, type Colour, type Painter } from './canvas.js';

/** A band around something, and what is in it. */
interface Glaze {
  glaze: Colour;
  band?: Colour;
}

const ROUND_BODY =
  'M160 335 C160 250 225 205 300 205 C375 205 440 250 440 335 C440 415 375 455 300 455 C225 455 160 415 160 335Z';
const TALL_BODY =
  'M195 250 C205 205 250 190 300 190 C350 190 395 205 405 250 L430 420 C430 450 380 460 300 460 C220 460 170 450 170 420Z';

/** A teapot: round, tall, or of iron with its handle above. */
export function teapot({ glaze, band, form = 'round' }: Glaze & { form?: 'round' | 'tall' | 'iron' }): Painter {
  return closer((c) => {
    const body = form === 'tall' ? TALL_BODY : ROUND_BODY;
    const fill = c.round(glaze);
    const dark = lighter(glaze, -14);
    const spout = form === 'tall' ? 'M405 380 C470 370 460 290 505 225 L540 238 C515 310 520 430 415 440Z' : 'M425 350 C478 342 472 280 512 238 L546 252 C520 300 520 400 415 412Z'; // prettier-ignore
    c.shadow(310, 462, 220, 32);
    c.add(shape(spout, c.fade([[0, lighter(glaze, 6)], [1, lighter(glaze, -16)]])), oval([528, 243], [19, 8], lighter(glaze, -28), 'transform="rotate(18 528 243)"')); // prettier-ignore
    if (form === 'iron')
      c.add(line('M190 235 C190 60 410 60 410 235', lighter(glaze, 6), 18), line('M245 122 C280 106 320 106 355 122', WOOD, 24));
    else c.add(line('M180 270 C78 232 70 410 186 400', dark, 30), line('M178 264 C86 236 76 396 180 394', lighter(glaze, 8), 9));
    c.add(shape(body, fill));
    if (band)
      c.within(body, line('M120 335 C200 375 400 375 480 335', band, 46), line('M120 298 C200 336 400 336 480 298', band, 7));
    if (form === 'iron') for (const [x, y] of strewn(70, [300, 345], [128, 84])) c.add(oval([x, y], [4.5, 4.5], lighter(glaze, 9), 'opacity="0.7"')); // prettier-ignore
    const top = form === 'tall' ? 196 : 218;
    c.add(shape(`M226 ${top} C236 ${top - 44} 364 ${top - 44} 374 ${top} C340 ${top + 16} 260 ${top + 16} 226 ${top}Z`, c.round(lighter(glaze, 3)))); // prettier-ignore
    c.add(line(`M226 ${top} C260 ${top + 16} 340 ${top + 16} 374 ${top}`, lighter(glaze, -22), 5));
    c.add(oval([300, top - 44], [21, 18], c.round(band ?? lighter(glaze, -4))), shine(236, 285, [26, 52], 28, 0.42));
  }, 1.14);
}

const CUP = 'M190 255 L410 255 C412 370 376 440 300 440 C224 440 188 370 190 255Z';
const TUMBLER = 'M195 215 L405 215 L385 430 C380 458 220 458 215 430Z';

/** A cup of tea on its saucer, or a tumbler without a handle. */
export function cup({
  glaze,
  band,
  tea = [26, 70, 36],
  isTumbler = false,
}: Glaze & { tea?: Colour; isTumbler?: boolean }): Painter {
  return closer((c) => {
    const top = isTumbler ? 215 : 255;
    const outline = isTumbler ? TUMBLER : CUP;
    c.shadow(305, 462, isTumbler ? 160 : 235, isTumbler ? 24 : 34);
    if (!isTumbler) {
      c.add(
        oval(
          [300, 448],
          [200, 36],
          c.fade([
            [0, lighter(glaze, 12)],
            [1, lighter(glaze, -12)],
          ]),
        ),
      );
      c.add(oval([300, 442], [128, 20], lighter(glaze, -16), 'opacity="0.55"'));
      c.add(line('M402 285 C500 262 496 398 372 386', lighter(glaze, -8), 26), line('M406 281 C488 266 484 384 392 382', lighter(glaze, 10), 8)); // prettier-ignore
    }
    c.add(shape(outline, c.round(glaze)));
    if (band) c.within(outline, line(`M150 ${top + 85} C220 ${top + 112} 380 ${top + 112} 450 ${top + 85}`, band, 34), line(`M150 ${top + 120} C220 ${top + 146} 380 ${top + 146} 450 ${top + 120}`, band, 7)); // prettier-ignore
    const [rx, ry] = [isTumbler ? 105 : 110, 26];
    c.add(oval([300, top], [rx, ry], lighter(glaze, 12)), oval([300, top + 3], [rx - 12, ry - 6], lighter(glaze, -20)));
    c.add(
      oval(
        [300, top + 7],
        [rx - 18, ry - 10],
        c.fade([
          [0, lighter(tea, 12)],
          [1, tea],
        ]),
      ),
    );
    c.add(shine(232, top + 85, [15, 52], 8, 0.4));
    for (const x of [262, 302, 342]) c.add(line(`M${x} ${top - 36} c-24 -30 22 -46 0 -80`, WHITE, 9, 'opacity="0.55"'));
  }, 1.2);
}

/** A bowl, with something in it if a filling is given. */
export function bowl({ glaze, band, filling }: Glaze & { filling?: Colour }): Painter {
  return closer((c) => {
    const outline = 'M118 275 C126 400 208 452 300 452 C392 452 474 400 482 275Z';
    c.shadow(305, 462, 190, 28);
    c.add(oval([300, 452], [80, 14], lighter(glaze, -24)), shape(outline, c.round(glaze)));
    if (band) c.within(outline, line('M90 318 C190 372 410 372 510 318', band, 26));
    c.add(oval([300, 275], [182, 46], lighter(glaze, 14)));
    c.add(
      oval(
        [300, 280],
        [168, 37],
        c.fade(
          [
            [0, lighter(glaze, -24)],
            [1, lighter(glaze, -4)],
          ],
          [0, 0, 0, 1],
        ),
      ),
    );
    if (filling) {
      c.add(oval([300, 288], [150, 28], filling));
      for (const [x, y] of strewn(26, [300, 284], [132, 20]))
        c.add(oval([x, y], [17, 12], c.round(lighter(filling, (x % 5) * 3 - 4))));
    }
    c.add(shine(196, 355, [18, 50], 32, 0.38));
  }, 1.2);
}

/** A vase with a few branches. */
export function vase({ glaze, band, leaves = [130, 30, 42] }: Glaze & { leaves?: Colour }): Painter {
  return closer((c) => {
    const outline =
      'M262 265 C262 300 196 320 196 390 C196 448 250 464 300 464 C350 464 404 448 404 390 C404 320 338 300 338 265Z';
    c.shadow(305, 466, 150, 24);
    for (const [x, y, turn] of [
      [200, 90, -24],
      [300, 60, 0],
      [398, 100, 26],
      [346, 82, 12],
      [248, 84, -12],
    ] as const) {
      c.add(line(`M300 270 Q${(300 + x) / 2 + turn / 4} ${(270 + y) / 2} ${x} ${y}`, lighter(leaves, -12), 5));
      for (const part of [0.35, 0.55, 0.75, 1]) {
        const [lx, ly] = [300 + (x - 300) * part, 270 + (y - 270) * part];
        for (const side of [-1, 1]) c.add(oval([lx + side * 17, ly], [21, 9], lighter(leaves, part * 14), `transform="rotate(${turn + side * 34 * -1} ${lx} ${ly})"`)); // prettier-ignore
      }
    }
    c.add(shape(outline, c.round(glaze)));
    if (band) c.within(outline, line('M170 380 C230 412 370 412 430 380', band, 30));
    c.add(oval([300, 265], [38, 9], lighter(glaze, -26)), shine(236, 385, [14, 42], 14, 0.4));
  }, 1.08);
}

/** A jar with a lid: of glass over what it holds, or a tin. */
export function jar({ content, lid = WOOD, isTin = false }: { content: Colour; lid?: Colour; isTin?: boolean }): Painter {
  return closer((c) => {
    const outline = isTin ? 'M180 200 H420 V440 C420 470 180 470 180 440Z' : 'M205 205 C180 225 172 240 172 270 V420 C172 452 190 464 220 464 H380 C410 464 428 452 428 420 V270 C428 240 420 225 395 205Z'; // prettier-ignore
    c.shadow(305, 466, 185, 28);
    c.add(shape(outline, c.fade([[0, lighter(content, 8)], [0.3, lighter(content, 14)], [1, lighter(content, -14)]], [0, 0, 1, 0]))); // prettier-ignore
    if (!isTin) c.add(shape(outline, WHITE, `opacity="0.16"`), line('M212 248 V420', WHITE, 14, 'opacity="0.45"'));
    c.add(`<rect x="${isTin ? 172 : 196}" y="150" width="${isTin ? 256 : 208}" height="62" rx="14" fill="${c.fade([[0, lighter(lid, 10)], [0.4, lighter(lid, 16)], [1, lighter(lid, -12)]], [0, 0, 1, 0])}"/>`); // prettier-ignore
    c.add(oval([300, 152], [isTin ? 124 : 98, 14], lighter(lid, 18)));
    c.add(`<rect x="216" y="288" width="168" height="106" rx="10" fill="${tone([42, 50, 95])}"/>`);
    c.add(`<rect x="226" y="298" width="148" height="86" rx="6" fill="none" stroke="${tone(lighter(content, -8))}" stroke-width="3"/>`); // prettier-ignore
    c.add(oval([300, 330], [17, 17], content), line('M252 364 H348', lighter(content, -10), 6));
  }, 1.16);
}

/** A paper bag with a label. */
export function paperBag({ paper, label }: { paper: Colour; label: Colour }): Painter {
  return closer((c) => {
    c.shadow(305, 466, 190, 28);
    c.add(shape('M185 170 L415 170 L432 462 L168 462Z', c.fade([[0, lighter(paper, 10)], [0.5, paper], [1, lighter(paper, -14)]], [0, 0, 1, 0.2]))); // prettier-ignore
    c.add(shape('M372 170 L415 170 L432 462 L398 462Z', lighter(paper, -16), 'opacity="0.5"'));
    c.add(shape('M178 140 H422 V186 H178Z', c.fade([[0, lighter(paper, 4)], [1, lighter(paper, -10)]])), line('M184 186 H416', lighter(paper, -24), 3)); // prettier-ignore
    c.add(
      `<rect x="218" y="252" width="146" height="136" rx="12" fill="${tone([42, 50, 96])}"/>`,
      oval([291, 308], [38, 38], label),
    );
    c.add(oval([291, 308], [20, 20], lighter(label, 26)), line('M246 366 H336', label, 7), oval([300, 163], [9, 9], label));
  }, 1.16);
}
