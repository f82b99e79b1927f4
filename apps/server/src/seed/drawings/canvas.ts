/** Hue from 0 to 360, saturation and lightness from 0 to 100. */
export type Colour = readonly [hue: number, saturation: number, lightness: number];

/** Width and height of a picture, in its own units. */
export const SIDE = 600;
export const WHITE: Colour = [0, 0, 100];
export const INK: Colour = [220, 25, 18];
export const STEEL: Colour = [215, 10, 62];
export const WOOD: Colour = [30, 45, 52];

/** A colour as SVG has it. Only attributes are used: styles would be refused by the policy that files are served with. */
export function tone([hue, saturation, lightness]: Colour): string {
  return `hsl(${Math.round(((hue % 360) + 360) % 360)},${Math.round(saturation)}%,${Math.round(lightness)}%)`;
}

/** A lighter colour; a darker one by less than 0. */
export function lighter([hue, saturation, lightness]: Colour, by: number): Colour {
  return [hue, saturation, Math.min(98, Math.max(6, lightness + by))];
}

/** Something that can be drawn, on a canvas of 600 by 600. */
export type Painter = (canvas: Canvas) => void;
export type Canvas = ReturnType<typeof createCanvas>;

type Stop = readonly [offset: number, colour: Colour, opacity?: number];

/** Collects the elements of an SVG. */
function createCanvas(side: number) {
  const definitions: string[] = [];
  const elements: string[] = [];
  const stopsOf = (stops: readonly Stop[]) =>
    stops
      .map(([at, colour, opacity = 1]) => `<stop offset="${at}" stop-color="${tone(colour)}" stop-opacity="${opacity}"/>`)
      .join('');

  function define(kind: string, attributes: string, content: string): string {
    const id = `d${definitions.length}`;
    definitions.push(`<${kind} id="${id}" ${attributes}>${content}</${kind}>`);
    return `url(#${id})`;
  }

  return {
    /** Adds elements, as SVG. */
    add(...svg: readonly string[]): void {
      elements.push(...svg);
    },

    /** A fill that changes along a line across what it fills, from the top left by default. */
    fade: (stops: readonly Stop[], [x1, y1, x2, y2] = [0, 0, 0.8, 1]): string =>
      define('linearGradient', `x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"`, stopsOf(stops)),

    /** A fill that changes from the middle to the edge. */
    glow: (stops: readonly Stop[], [cx, cy, r] = [0.5, 0.5, 0.5]): string =>
      define('radialGradient', `cx="${cx}" cy="${cy}" r="${r}"`, stopsOf(stops)),

    /** A fill for something round: light from the top left. */
    round: (colour: Colour): string =>
      define(
        'radialGradient',
        'cx="0.36" cy="0.28" r="0.85"',
        stopsOf([
          [0, lighter(colour, 15)],
          [0.45, colour],
          [1, lighter(colour, -20)],
        ]),
      ),

    /** What shows only inside of an outline. */
    within(outline: string, ...svg: readonly string[]): void {
      const clip = define('clipPath', '', `<path d="${outline}"/>`);
      elements.push(`<g clip-path="${clip}">${svg.join('')}</g>`);
    },

    /** The shadow on the ground. */
    shadow(cx: number, cy: number, rx: number, ry = rx / 7): void {
      const fill = define('radialGradient', '', stopsOf([[0, INK, 0.42], [0.55, INK, 0.2], [1, INK, 0]])); // prettier-ignore
      elements.push(`<ellipse cx="${cx}" cy="${cy}" rx="${rx}" ry="${ry}" fill="${fill}"/>`);
    },

    toSvg(): string {
      const box = `width="${side}" height="${side}" viewBox="0 0 ${side} ${side}"`;
      const defs = definitions.length > 0 ? `<defs>${definitions.join('')}</defs>` : '';
      return `<svg xmlns="http://www.w3.org/2000/svg" ${box}>${defs}${elements.join('')}</svg>`;
    },
  };
}

/** Draws an SVG. Sharp at any size, a few kilobytes, and made without a library. */
export function draw(painter: Painter, side = SIDE): Buffer {
  const canvas = createCanvas(side);
  painter(canvas);
  return Buffer.from(canvas.toSvg());
}

/** Puts something on a table before a soft wall in a hue. */
export function staged(painter: Painter, hue: number): Painter {
  return (canvas) => {
    const wall = canvas.glow([[0, [hue, 45, 97]], [0.6, [hue, 40, 91]], [1, [hue, 36, 82]]], [0.4, 0.32, 0.85]); // prettier-ignore
    const table = canvas.fade([[0, [hue, 30, 80], 0], [0.35, [hue, 30, 78], 0.55], [1, [hue, 32, 72], 0.8]], [0, 0, 0, 1]); // prettier-ignore
    canvas.add(`<rect width="${SIDE}" height="${SIDE}" fill="${wall}"/>`);
    canvas.add(`<rect y="390" width="${SIDE}" height="210" fill="${table}"/>`);
    painter(canvas);
  };
}

/** Draws something larger, from the middle of the table. */
export function closer(painter: Painter, times: number): Painter {
  return (canvas) => {
    const [x, y] = [300 * (1 - times), 340 * (1 - times)].map((by) => by.toFixed(0));
    canvas.add(`<g transform="translate(${x} ${y}) scale(${times})">`);
    painter(canvas);
    canvas.add('</g>');
  };
}

/** A line, with round ends. */
export function line(d: string, colour: Colour | string, width: number, more = ''): string {
  const stroke = typeof colour === 'string' ? colour : tone(colour);
  return `<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round" ${more}/>`;
}

/** A filled shape. */
export function shape(d: string, fill: Colour | string, more = ''): string {
  return `<path d="${d}" fill="${typeof fill === 'string' ? fill : tone(fill)}" ${more}/>`;
}

export function oval([cx, cy]: readonly [number, number], [rx, ry]: readonly [number, number], fill: Colour | string, more = '') {
  return `<ellipse cx="${cx}" cy="${cy}" rx="${rx}" ry="${ry}" fill="${typeof fill === 'string' ? fill : tone(fill)}" ${more}/>`;
}

/** A spot of light on something that shines. */
export function shine(cx: number, cy: number, [rx, ry]: readonly [number, number], turn = -30, opacity = 0.4): string {
  return oval([cx, cy], [rx, ry], WHITE, `opacity="${opacity}" transform="rotate(${turn} ${cx} ${cy})"`);
}

/** Points on an ellipse, evenly apart. */
export function around(count: number, [cx, cy]: readonly [number, number], [rx, ry]: readonly [number, number], from = 0) {
  return Array.from({ length: count }, (_, at) => {
    const angle = from + (2 * Math.PI * at) / count;
    return [Math.round(cx + rx * Math.cos(angle)), Math.round(cy + ry * Math.sin(angle))] as const;
  });
}

/** Points strewn over an ellipse as by hand, the same each time: the golden angle keeps them apart. */
export function strewn(count: number, [cx, cy]: readonly [number, number], [rx, ry]: readonly [number, number]) {
  return Array.from({ length: count }, (_, at) => {
    const angle = at * 2.399963 + 0.4;
    const far = Math.sqrt((at + 0.5) / count);
    return [Math.round(cx + rx * far * Math.cos(angle)), Math.round(cy + ry * far * Math.sin(angle))] as const;
  });
}
