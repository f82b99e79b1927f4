import type { Request } from 'express';

/** The encodings of compressed answers, best first. */
const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The best encoding that the client accepts: browsers prefer none, and name gzip first. */
export function encodingFor(req: Request): Encoding | undefined {
  return ENCODINGS.find((encoding) => req.acceptsEncodings(encoding));
}
