import { createConnection } from 'node:net';
import { IDENTIFY_COMMAND } from './own-commands.js';
import { createFrameReader, decodeReply, encodeCommand } from './wire-protocol.js';

/** A running engine answers at once; one that hangs is not worth a longer wait. */
const ANSWER_MS = 2000;

/** A running engine, in a process of our own or in another's. */
export interface RunningEngine {
  role: 'owner' | 'attached';
  /** Of the process that runs the engine. */
  pid: number;
  /** Settles when the engine has ended: with the reason if it was not meant to. */
  ended: Promise<Error | undefined>;
  /** Stops using it; the owner closes the engine. */
  release(): Promise<void>;
}

/**
 * Asks on the socket for a running engine of the directory.
 *
 * @returns undefined where there is no answer, or not one of our engine
 */
export async function attach(socketPath: string, directory: string): Promise<RunningEngine | undefined> {
  const socket = createConnection(socketPath);
  const ended = new Promise<undefined>((resolve) => {
    socket.once('close', () => resolve(undefined));
  });
  socket.on('error', () => {});
  socket.setTimeout(ANSWER_MS, () => socket.destroy());
  const readFrames = createFrameReader();

  const identity = await new Promise<{ directory?: unknown; pid?: unknown } | undefined>((resolve) => {
    void ended.then(resolve);
    socket.on('data', (chunk) => {
      try {
        for (const frame of readFrames(chunk)) resolve(decodeReply(frame));
      } catch {
        socket.destroy();
      }
    });
    socket.write(encodeCommand({ [IDENTIFY_COMMAND]: 1, $db: 'admin' }));
  });
  if (identity?.directory !== directory || typeof identity.pid !== 'number') {
    socket.destroy();
    return undefined;
  }

  // From here on the connection only reports the end of the engine's process.
  socket.setTimeout(0);
  return {
    role: 'attached',
    pid: identity.pid,
    ended,
    async release() {
      socket.destroy();
      await ended;
    },
  };
}
