import { crc32, deflateSync } from 'node:zlib';

/** Width and height of a picture, in pixels. */
const SIDE = 120;

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** A small PNG in a colour that grows lighter downwards. @param hue from 0 to 1 */
export function paintPicture(hue: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  // eight bits each of red, green and blue
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Array.from({ length: SIDE }, (_, y) => {
    const light = 0.45 + (0.45 * y) / SIDE;
    const part = (shift: number) => Math.round(255 * (light + (1 - light) * 0.6 * Math.cos(2 * Math.PI * (hue + shift))));
    const pixel = [0, 1 / 3, 2 / 3].map((shift) => Math.min(255, Math.max(0, part(shift))));
    // each row begins with its filter type, here none
    return Buffer.from([0, ...Array.from({ length: SIDE }, () => pixel).flat()]);
  });
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.concat(rows))), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...parts]);
}
