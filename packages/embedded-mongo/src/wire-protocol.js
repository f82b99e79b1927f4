import { createRequire } from 'node:module';
import { endOfText } from './document-depth.js';

// The part of MongoDB's wire protocol that the engine speaks: OP_MSG, and OP_QUERY for the first hello of a connection.

// Only the driver's BSON library: loading the whole driver would cost the engine process 130 ms and 20 MB.
const require = createRequire(import.meta.url);
/** @type {typeof import('mongodb').BSON} */
export const BSON = createRequire(require.resolve('mongodb'))('bson');

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;
const MAX_MESSAGE_BYTES = 48_000_000;
const CHECKSUM_PRESENT = 1;
const MORE_TO_COME = 2;

/**
 * @typedef {object} Request
 * @property {string} name of the command
 * @property {number} requestId
 * @property {boolean} legacy an OP_QUERY, to be answered by an OP_REPLY
 * @property {boolean} moreToCome the sender wants no reply
 * @property {Buffer} frame the whole message
 * @property {number} body where in the frame the command's document begins
 * @property {number[]} documents where in the frame each document begins
 */

/**
 * Splits a byte stream into messages: call it with each chunk, it returns the completed messages.
 *
 * @returns {(chunk: Buffer) => Buffer[]} throws RangeError where no message can begin
 */
export function createFrameReader() {
  /** @type {Buffer[]} */
  let chunks = [];
  let size = 0;
  return function read(chunk) {
    chunks.push(chunk);
    size += chunk.length;
    const frames = [];
    while (size >= 4) {
      // Joined only once a message is complete: a large one arrives in many chunks.
      if (chunks.length > 1 && /** @type {Buffer} */ (chunks[0]).length < 4) chunks = [Buffer.concat(chunks)];
      const length = /** @type {Buffer} */ (chunks[0]).readInt32LE(0);
      if (length < HEADER_BYTES || length > MAX_MESSAGE_BYTES) throw new RangeError(`a message of ${length} bytes`);
      if (size < length) break;
      const joined = chunks.length === 1 ? /** @type {Buffer} */ (chunks[0]) : Buffer.concat(chunks);
      frames.push(joined.subarray(0, length));
      chunks = size > length ? [joined.subarray(length)] : [];
      size -= length;
    }
    return frames;
  };
}

/**
 * Parses a message.
 *
 * @param {Buffer} frame
 * @returns {Request} throws RangeError where the message is malformed or of another kind
 */
export function readRequest(frame) {
  const requestId = frame.readInt32LE(4);
  const opCode = frame.readInt32LE(12);
  const flags = frame.readInt32LE(HEADER_BYTES);
  if (opCode === OP_MSG) {
    const { body, documents } = readSections(frame, flags);
    return {
      name: commandName(frame, body),
      requestId,
      legacy: false,
      moreToCome: (flags & MORE_TO_COME) !== 0,
      frame,
      body,
      documents,
    };
  }
  if (opCode === OP_QUERY) {
    // After the flags: the collection's name, then the numbers of documents to skip and to return.
    const body = endOfText(frame, 20) + 8;
    return { name: commandName(frame, body), requestId, legacy: true, moreToCome: false, frame, body, documents: [body] };
  }
  throw new RangeError(`the operation ${opCode}`);
}

/**
 * Where the documents of an OP_MSG begin. Document sequences may stand before and after its body.
 *
 * @param {Buffer} frame
 * @param {number} flags
 */
function readSections(frame, flags) {
  const end = frame.length - (flags & CHECKSUM_PRESENT ? 4 : 0);
  const documents = [];
  let body;
  let at = HEADER_BYTES + 4;
  while (at < end) {
    const kind = frame.readUInt8(at);
    at += 1;
    const next = at + Math.max(5, frame.readInt32LE(at));
    if (kind === 0) {
      body = at;
      documents.push(at);
    } else if (kind === 1) {
      // A sequence has its size, then a name.
      for (let document = endOfText(frame, at + 4); document < next; document += Math.max(5, frame.readInt32LE(document))) {
        documents.push(document);
      }
    } else throw new RangeError(`a section of the unknown kind ${kind}`);
    at = next;
  }
  if (body === undefined) throw new RangeError('a message without a body');
  return { body, documents };
}

/**
 * The name of a document's first field, which is the command's name.
 *
 * @param {Buffer} frame
 * @param {number} at
 */
function commandName(frame, at) {
  return frame.toString('utf8', at + 5, endOfText(frame, at + 5) - 1);
}

/**
 * The message with a `comment` added to its command, which identifies it in the engine's list of running operations; an
 * existing comment stays. A message with a checksum, which no driver sends, is returned unchanged.
 *
 * @param {Request} request
 * @param {string} comment
 */
export function withComment({ frame, body }, comment) {
  if ((frame.readInt32LE(HEADER_BYTES) & CHECKSUM_PRESENT) !== 0) return frame;
  const field = BSON.serialize({ comment }).subarray(4, -1);
  const size = frame.readInt32LE(body);
  const end = body + size - 1;
  const commented = Buffer.concat([frame.subarray(0, end), field, frame.subarray(end)]);
  commented.writeInt32LE(commented.length, 0);
  commented.writeInt32LE(size + field.length, body);
  return commented;
}

/**
 * An OP_MSG with a command; its document names the database in `$db`.
 *
 * @param {import('mongodb').Document} command
 */
export function encodeCommand(command) {
  const body = BSON.serialize(command);
  return Buffer.concat([replyHeader({ requestId: 0, legacy: false }, body.length), body]);
}

/**
 * The bytes before the document of a reply.
 *
 * @param {Pick<Request, 'requestId' | 'legacy'>} request
 * @param {number} documentBytes
 */
export function replyHeader({ requestId, legacy }, documentBytes) {
  const header = Buffer.alloc(HEADER_BYTES + (legacy ? 20 : 5));
  header.writeInt32LE(header.length + documentBytes, 0);
  header.writeInt32LE(requestId, 8);
  header.writeInt32LE(legacy ? OP_REPLY : OP_MSG, 12);
  if (legacy) header.writeInt32LE(1, 32); // the number of documents
  return header;
}

/**
 * The document in a reply to `encodeCommand`.
 *
 * @param {Buffer} frame
 * @returns {import('mongodb').Document}
 */
export function decodeReply(frame) {
  return BSON.deserialize(frame.subarray(HEADER_BYTES + 5));
}
