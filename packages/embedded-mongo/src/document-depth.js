/** Size of a value after the field's name, for the BSON types of fixed size. */
const FIXED_SIZES = new Map([
  [0x01, 8], // double
  [0x06, 0], // undefined
  [0x07, 12], // object id
  [0x08, 1], // boolean
  [0x09, 8], // date
  [0x0a, 0], // null
  [0x10, 4], // int32
  [0x11, 8], // timestamp
  [0x12, 8], // int64
  [0x13, 16], // decimal128
  [0x7f, 0], // max key
  [0xff, 0], // min key
]);
/** Extra bytes of the types that state a length, after that length. */
const SIZED_EXTRAS = new Map([
  [0x02, 0], // string
  [0x05, 1], // binary: its subtype
  [0x0c, 12], // pointer: an object id
  [0x0d, 0], // code
  [0x0e, 0], // symbol
]);
const DOCUMENT = 0x03;
const ARRAY = 0x04;
const REGEX = 0x0b;
const CODE_WITH_SCOPE = 0x0f;

/**
 * Nesting depth of documents and arrays in a BSON document, itself included. Walks without recursion, because recursion
 * is what crashes the engine.
 *
 * @param {Buffer} bytes
 * @param {number} start of the document
 * @returns {number} throws RangeError where it is malformed
 */
export function documentDepth(bytes, start) {
  let at = start + 4;
  let depth = 1;
  let deepest = 1;
  while (depth > 0) {
    const type = bytes.readUInt8(at);
    at += 1;
    if (type === 0) {
      depth -= 1;
      continue;
    }
    at = endOfText(bytes, at);
    const fixed = FIXED_SIZES.get(type);
    const extra = SIZED_EXTRAS.get(type);
    if (fixed !== undefined) at += fixed;
    else if (extra !== undefined) at += 4 + lengthAt(bytes, at) + extra;
    else if (type === REGEX) at = endOfText(bytes, endOfText(bytes, at));
    else if (type === DOCUMENT || type === ARRAY || type === CODE_WITH_SCOPE) {
      // Skips the total length and the code; the scope after them is a document.
      if (type === CODE_WITH_SCOPE) at += 8 + lengthAt(bytes, at + 4);
      at += 4;
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else throw new RangeError(`a field of the unknown type ${type}`);
  }
  return deepest;
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 */
function lengthAt(bytes, at) {
  const length = bytes.readInt32LE(at);
  if (length < 0) throw new RangeError('a negative length');
  return length;
}

/**
 * The end of the C string that begins there, its terminating zero included.
 *
 * @param {Buffer} bytes
 * @param {number} at
 */
export function endOfText(bytes, at) {
  const zero = bytes.indexOf(0, at);
  if (zero < 0) throw new RangeError('a text without an end');
  return zero + 1;
}
