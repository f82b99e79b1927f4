import { INK, WHITE, line, lighter, oval, shape, tone, type Colour, type Painter } from './canvas.js';

/** What sets one person's picture apart from another's. */
export interface Face {
  skin: Colour;
  hair: Colour;
  style: 'short' | 'side' | 'bob' | 'long' | 'bun' | 'curls' | 'bald' | 'scarf' | 'beanie';
  shirt: Colour;
  background: Colour;
  beard?: boolean;
  glasses?: boolean;
}

/** Skins from light to dark. */
export const SKINS: readonly Colour[] = [[26, 75, 84], [25, 62, 75], [24, 52, 64], [22, 46, 50], [20, 42, 36]]; // prettier-ignore

const HEAD = 'M188 250 C188 160 236 122 300 122 C364 122 412 160 412 250 C412 340 360 398 300 398 C240 398 188 340 188 250Z';

/** Hair behind the head. */
function behind({ style, hair }: Face): string[] {
  const dark = lighter(hair, -6);
  if (style === 'long') return [shape('M160 250 C150 120 220 76 300 76 C380 76 450 120 440 250 C446 360 470 430 446 500 H154 C130 430 154 360 160 250Z', dark)]; // prettier-ignore
  if (style === 'bob') return [shape('M150 260 C140 120 220 78 300 78 C380 78 460 120 450 260 C452 330 448 380 420 400 H180 C152 380 148 330 150 260Z', dark)]; // prettier-ignore
  if (style === 'bun') return [oval([300, 84], [66, 56], hair), oval([300, 84], [40, 32], lighter(hair, 8))];
  if (style === 'curls') return [[196, 170], [176, 230], [184, 296], [404, 170], [424, 230], [416, 296], [240, 118], [300, 96], [360, 118]].map(([x, y]) => oval([x ?? 0, y ?? 0], [56, 56], dark)); // prettier-ignore
  if (style === 'scarf') return [shape('M150 260 C140 110 230 66 300 66 C370 66 460 110 450 260 C456 350 500 420 480 520 H120 C100 420 144 350 150 260Z', dark)]; // prettier-ignore
  return [];
}

/** Hair over the forehead. */
function above({ style, hair }: Face): string[] {
  switch (style) {
    case 'short':
      return [shape('M184 244 C170 130 230 86 300 86 C372 86 430 130 416 244 C404 206 396 190 380 176 C330 190 250 186 218 178 C204 192 194 210 184 244Z', hair), line('M226 150 C260 120 330 116 366 140', lighter(hair, 14), 8, 'opacity="0.5"')]; // prettier-ignore
    case 'side':
      return [shape('M180 248 C164 128 224 80 308 80 C392 84 434 140 418 246 C408 214 398 196 380 184 C300 190 262 160 244 140 C240 176 204 196 180 248Z', hair), line('M262 112 C300 140 350 150 392 160', lighter(hair, 14), 8, 'opacity="0.5"')]; // prettier-ignore
    case 'bob':
    case 'long':
      return [shape('M176 270 C160 130 226 84 304 84 C384 84 440 130 424 270 C416 220 396 190 356 164 C312 184 226 188 196 204 C186 222 180 240 176 270Z', hair), line('M230 140 C270 108 330 108 368 132', lighter(hair, 14), 8, 'opacity="0.5"')]; // prettier-ignore
    case 'bun':
      return [shape('M182 248 C168 130 232 94 300 94 C370 94 432 130 418 248 C402 186 360 160 300 158 C240 160 198 186 182 248Z', hair), line('M236 136 C270 114 330 114 364 136', lighter(hair, 14), 8, 'opacity="0.5"')]; // prettier-ignore
    case 'curls':
      return [[214, 158], [256, 132], [302, 124], [348, 134], [388, 160]].map(([x, y], at) => oval([x ?? 0, y ?? 0], [40, 36], lighter(hair, at % 2 ? 6 : 0))); // prettier-ignore
    case 'scarf':
      return [shape('M170 300 C150 130 226 84 300 84 C374 84 450 130 430 300 C424 230 390 168 300 164 C210 168 176 230 170 300Z', hair), line('M196 190 C240 132 360 132 404 190', lighter(hair, 12), 8, 'opacity="0.5"')]; // prettier-ignore
    case 'beanie':
      return [shape('M176 206 C170 96 240 62 300 62 C360 62 430 96 424 206Z', hair), `<rect x="164" y="176" width="272" height="54" rx="24" fill="${tone(lighter(hair, 10))}"/>`, oval([300, 60], [28, 26], lighter(hair, 18))]; // prettier-ignore
    // bald
    default:
      return [oval([250, 160], [40, 18], WHITE, 'opacity="0.3" transform="rotate(-24 250 160)"')];
  }
}

/** A portrait of somebody, to the shoulders. */
export function portrait(face: Face): Painter {
  const { skin, hair, style, shirt, background, beard = false, glasses = false } = face;
  const shade = lighter(skin, -12);
  const brow: Colour = style === 'scarf' || style === 'beanie' || style === 'bald' ? [24, 30, 24] : lighter(hair, -8);
  return (c) => {
    c.add(
      `<rect width="600" height="600" fill="${c.fade([
        [0, lighter(background, 14)],
        [1, lighter(background, -6)],
      ])}"/>`,
    );
    c.add(oval([470, 150], [230, 230], WHITE, 'opacity="0.12"'), ...behind(face));
    c.add(
      shape(
        'M60 600 C66 486 150 452 240 440 H360 C450 452 534 486 540 600Z',
        c.fade([
          [0, lighter(shirt, 10)],
          [1, lighter(shirt, -12)],
        ]),
      ),
    );
    c.add(
      shape('M246 360 H354 V446 C354 492 246 492 246 446Z', shade),
      line('M232 444 C250 500 350 500 368 444', lighter(shirt, 18), 13),
    );
    if (style !== 'scarf') c.add(oval([188, 262], [22, 32], shade), oval([412, 262], [22, 32], shade));
    c.add(
      shape(
        HEAD,
        c.fade([
          [0, lighter(skin, 5)],
          [0.7, skin],
          [1, lighter(skin, -7)],
        ]),
      ),
    );
    c.add(oval([226, 306], [30, 20], [8, 70, 62], 'opacity="0.22"'), oval([374, 306], [30, 20], [8, 70, 62], 'opacity="0.22"'));
    if (beard)
      c.within(
        HEAD,
        shape('M180 270 C204 320 220 330 252 322 C280 314 320 314 348 322 C380 330 396 320 420 270 V420 H180Z', brow),
      );
    for (const x of [250, 350]) c.add(oval([x, 258], [14, 17], INK), oval([x - 4, 252], [5, 5], WHITE), line(`M${x - 28} 220 Q${x} ${x < 300 ? 204 : 204} ${x + 28} 220`, brow, 9)); // prettier-ignore
    c.add(line('M302 262 C296 288 290 298 306 302', shade, 8));
    c.add(beard ? shape('M264 336 C286 356 314 356 336 336 C326 372 274 372 264 336Z', [2, 54, 60]) : shape('M256 328 C284 346 316 346 344 328 C332 376 268 376 256 328Z', [2, 54, 46]), line('M272 338 C290 346 310 346 328 338', WHITE, 8)); // prettier-ignore
    if (glasses) c.add(...[250, 350].map((x) => oval([x, 258], [42, 38], WHITE, `fill-opacity="0.18" stroke="${tone(INK)}" stroke-width="8"`)), line('M292 252 Q300 246 308 252 M208 250 L188 244 M392 250 L412 244', INK, 8)); // prettier-ignore
    c.add(...above(face));
  };
}
