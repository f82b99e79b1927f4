import { documentDepth } from './document-depth.js';
import { BSON, createFrameReader, readRequest, replyHeader } from './wire-protocol.js';

/**
 * A driver sends one command at a time, or some without waiting for replies; beyond this many unanswered ones the host
 * stops reading.
 */
const MAX_UNANSWERED = 16;
/** MongoDB refuses deeper documents; this engine crashes at about 2,000 levels. */
const MAX_DEPTH = 200;
const HANDSHAKES = new Set(['hello', 'isMaster', 'ismaster']);

/**
 * Answers one connection, in the order of its requests. Bytes that are no requests end this connection, and nothing else.
 *
 * @param {import('node:net').Socket} socket
 * @param {{
 *   roundTrip: ReturnType<typeof import('./abandoned-reads.js').createAbandonedReads>,
 *   ownCommands: Map<string, () => import('mongodb').Document>,
 *   enqueue: <T>(command: () => Promise<T>) => Promise<T>,
 * }} host
 */
export function serveConnection(socket, { roundTrip, ownCommands, enqueue }) {
  const readFrames = createFrameReader();
  let answered = Promise.resolve();
  let unanswered = 0;

  /**
   * The reply's document; undefined when the connection has closed.
   *
   * @param {import('./wire-protocol.js').Request} request
   * @returns {Promise<Uint8Array | undefined>}
   */
  async function run(request) {
    const { name, legacy, frame, documents } = request;
    const isHandshake = HANDSHAKES.has(name);
    // Drivers use OP_QUERY for the handshake only; inside it, endSessions could slip past the check.
    if (legacy && !isHandshake) throw new RangeError(`${name} in an OP_QUERY`);
    if (documents.some((at) => documentDepth(frame, at) > MAX_DEPTH))
      return refusal('Overflow', 'The document is nested too deep');
    const own = ownCommands.get(name);
    if (own) return BSON.serialize(own());
    // Never queued behind long commands: a driver that waits too long for it takes the engine for dead.
    if (isHandshake) return await askEngine(request);
    return await enqueue(async () => (socket.destroyed ? undefined : await askEngine(request)));
  }

  /** @param {import('./wire-protocol.js').Request} request */
  async function askEngine(request) {
    try {
      return (await roundTrip(socket, request)).response;
    } catch (error) {
      // The error that a server would answer, such as `Overflow: …`; the connection stays usable.
      const [, codeName, text] =
        /^embedded MongoDB error: (\w+): (.*)$/s.exec(String(error instanceof Error && error.message)) ?? [];
      if (codeName && text) return refusal(codeName, text);
      throw error;
    }
  }

  /** @param {Buffer} frame */
  async function answer(frame) {
    const request = readRequest(frame);
    const document = await run(request);
    if (!document || request.moreToCome || socket.destroyed) return;
    socket.cork();
    socket.write(replyHeader(request, document.length));
    socket.write(document);
    socket.uncork();
  }

  /** @param {Buffer} frame */
  async function answerInTurn(frame) {
    const before = answered;
    unanswered += 1;
    if (unanswered > MAX_UNANSWERED) socket.pause();
    await before;
    try {
      if (!socket.destroyed) await answer(frame);
    } catch {
      socket.destroy();
    }
    unanswered -= 1;
    if (unanswered === 0) socket.resume();
  }

  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    try {
      for (const frame of readFrames(chunk)) answered = answerInTurn(frame);
    } catch {
      socket.destroy();
    }
  });
}

/**
 * @param {string} codeName as MongoDB's list of errors has it
 * @param {string} errmsg
 */
function refusal(codeName, errmsg) {
  const code = codeName === 'Overflow' ? 15 : Number(/^Location(\d+)$/.exec(codeName)?.[1] ?? 8);
  return BSON.serialize({ ok: 0, errmsg, code, codeName });
}
