/**
 * Why the server closes a stream: the code that the client sees, and a reason below the 123 bytes that a close frame
 * holds (decisions S5).
 */
export const CLOSE = {
  /** The session has ended: logout, lock, change of password, deletion. */
  revoked: [1008, 'the session has ended'],
  unused: [1008, 'nobody has signed in'],
  flooding: [1008, 'too many frames'],
  failed: [1011, 'unexpected failure'],
  restart: [1012, 'the server restarts'],
  slow: [1013, 'the reader is too slow'],
  expired: [4401, 'the access token has expired'],
} as const satisfies Record<string, readonly [code: number, reason: string]>;
/** What the WebSocket implementation itself closes for. */
export const PROTOCOL_CLOSE = {
  protocol: [1002, 'a frame breaks the WebSocket protocol'],
  encoding: [1007, 'a text frame is not UTF-8'],
  size: [1009, 'a frame is larger than 64 KiB'],
} as const;
export type CloseReason = keyof typeof CLOSE;
