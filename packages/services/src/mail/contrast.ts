/** Contrast that small text needs (WCAG 2.2, 1.4.3). */
const READABLE = 4.5;
/** Share of black or white that is mixed in at a time. */
const STEP = 0.05;

type Rgb = readonly [number, number, number];
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

function parse(color: string): Rgb {
  const channel = (at: number) => Number.parseInt(color.slice(at, at + 2), 16);
  return [channel(1), channel(3), channel(5)];
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Whichever of black and white is easier to read on the color. */
export function textOn(color: string): string {
  return contrast(parse(color), BLACK) > contrast(parse(color), WHITE) ? '#000000' : '#ffffff';
}

/**
 * The color, or the nearest shade of it that can be read as small text on the background: mixed with black or white,
 * whichever is easier to read there. Colors are `#rrggbb`.
 */
export function readableOn(background: string, color: string): string {
  const behind = parse(background);
  const end = parse(textOn(background))[0];
  const start = parse(color);
  let shade = start;
  for (let share = STEP; contrast(behind, shade) < READABLE && share <= 1; share += STEP)
    shade = start.map((value) => Math.round(value + (end - value) * share)) as unknown as Rgb;
  return `#${shade.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
