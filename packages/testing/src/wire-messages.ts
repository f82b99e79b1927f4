import { BSON, type Document } from 'mongodb';

// MongoDB's wire protocol as drivers use it: OP_MSG, and OP_QUERY with OP_REPLY for the first hello of a connection.

export type { Document };

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;
/** Offset of the first document of a reply. */
const REPLY_DOCUMENT_AT = 36;
const MSG_DOCUMENT_AT = 21;
const MORE_TO_COME = 2;

/** A message from a driver. */
export interface CommandMessage {
  requestId: number;
  isLegacy: boolean;
  /** The sender expects no answer. */
  isUnanswered: boolean;
  /** The command; every value keeps its BSON type. */
  body: Document;
  /**
   * The document sequences after the body, by name: `documents` of an insert, `updates`, `deletes`, `ops`, `nsInfo`.
   */
  sequences: { name: string; bytes: Buffer }[];
}

/** Keeps number types, so that encoding restores the same bytes. */
const EXACT = { promoteValues: false, bsonRegExp: true } as const;

/** Splits a connection's input into messages. */
export function createMessageReader(): (chunk: Buffer) => Buffer[] {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Buffer[] = [];
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      messages.push(rest.subarray(0, rest.readInt32LE(0)));
      rest = rest.subarray(rest.readInt32LE(0));
    }
    return messages;
  };
}

function documentAt(message: Buffer, at: number): Buffer {
  return message.subarray(at, at + message.readInt32LE(at));
}

/** @throws Error for an operation that drivers no longer send */
export function readCommand(message: Buffer): CommandMessage {
  const requestId = message.readInt32LE(4);
  const opCode = message.readInt32LE(12);
  if (opCode === OP_QUERY) {
    // after the flags: the collection's name, then the numbers of documents to skip and to return
    const body = documentAt(message, message.indexOf(0, HEADER_BYTES + 4) + 9);
    return { requestId, isLegacy: true, isUnanswered: false, body: BSON.deserialize(body, EXACT), sequences: [] };
  }
  if (opCode !== OP_MSG) throw new Error(`the operation ${opCode}`);
  let body: Document = {};
  const sequences: CommandMessage['sequences'] = [];
  for (let at = HEADER_BYTES + 4; at < message.length;) {
    const section = documentAt(message, at + 1);
    if (message.readUInt8(at) === 0) body = BSON.deserialize(section, EXACT);
    else {
      const nameEnd = section.indexOf(0, 4);
      sequences.push({ name: section.toString('utf8', 4, nameEnd), bytes: section.subarray(nameEnd + 1) });
    }
    at += 1 + section.length;
  }
  const isUnanswered = (message.readInt32LE(HEADER_BYTES) & MORE_TO_COME) !== 0;
  return { requestId, isLegacy: false, isUnanswered, body, sequences };
}

/** The documents of a sequence. */
export function documentsOf({ sequences }: CommandMessage, name: string): Document[] {
  const { bytes } = sequences.find((sequence) => sequence.name === name) ?? { bytes: Buffer.alloc(0) };
  const documents: Document[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) documents.push(BSON.deserialize(documentAt(bytes, at)));
  return documents;
}

function header(
  opCode: number,
  { bytes, requestId = 0, responseTo = 0 }: { bytes: number; requestId?: number; responseTo?: number },
) {
  const header = Buffer.alloc(HEADER_BYTES);
  [HEADER_BYTES + bytes, requestId, responseTo, opCode].forEach((value, at) => header.writeInt32LE(value, at * 4));
  return header;
}

/** Encodes a command whose body was changed. */
export function encodeCommand({ requestId, isUnanswered, body, sequences }: CommandMessage): Buffer {
  const flags = Buffer.alloc(5);
  flags.writeInt32LE(isUnanswered ? MORE_TO_COME : 0);
  const sections = sequences.flatMap(({ name, bytes }) => {
    const head = Buffer.from(`\u0001\0\0\0\0${name}\0`);
    head.writeInt32LE(head.length - 1 + bytes.length, 1);
    return [head, bytes];
  });
  const content = Buffer.concat([flags, BSON.serialize(body), ...sections]);
  return Buffer.concat([header(OP_MSG, { bytes: content.length, requestId }), content]);
}

/** The document of an answer. */
export function readReply(message: Buffer): Document {
  const at = message.readInt32LE(12) === OP_REPLY ? REPLY_DOCUMENT_AT : MSG_DOCUMENT_AT;
  return BSON.deserialize(documentAt(message, at), EXACT);
}

/** An answer to a command. */
export function encodeReply({ requestId, isLegacy }: CommandMessage, reply: Document): Buffer {
  const head = Buffer.alloc((isLegacy ? REPLY_DOCUMENT_AT : MSG_DOCUMENT_AT) - HEADER_BYTES);
  // of an OP_REPLY, after flags, cursor and position: the number of documents
  if (isLegacy) head.writeInt32LE(1, 16);
  const content = Buffer.concat([head, BSON.serialize(reply)]);
  return Buffer.concat([header(isLegacy ? OP_REPLY : OP_MSG, { bytes: content.length, responseTo: requestId }), content]);
}
