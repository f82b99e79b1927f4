import { json, text, type Request, type Response } from 'express';
import { requestErrors } from '../errors.js';
import { isForm, isJson } from '../media-type.js';

/** The usual content types of JSON in UTF-8. */
const PLAIN = /^application\/json(; ?charset=utf-8)?$/i;
const utf8 = new TextDecoder();

/** What `body-parser` throws, in the parts that we look at. */
function badBody(error: unknown, type?: 'entity.parse.failed'): Error {
  return Object.assign(error as Error, { status: 400, type });
}

/** The text of a body of UTF-8. */
function readText(req: Request): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('error', (error) => reject(badBody(error)));
    req.on('end', () => resolve(utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))));
  });
}

/** Reads JSON in UTF-8 whose size is known. @throws what `body-parser` throws */
async function readPlain(req: Request): Promise<unknown> {
  const text = await readText(req);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badBody(error, 'entity.parse.failed');
  }
}

/** The fields of a form; a repeated one is an array, which no field accepts. */
function formFields(form: string): Record<string, unknown> {
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(form)) {
    const earlier = fields.get(name);
    if (Array.isArray(earlier)) earlier.push(value);
    else fields.set(name, earlier === undefined ? value : [earlier, value]);
  }
  return Object.fromEntries(fields);
}

/**
 * Makes a reader of JSON bodies of at most `limit` bytes, any JSON value; undefined when there is none. `body-parser`
 * costs a twentieth of a request, so it reads only what is compressed, in another encoding, or of unknown size, and
 * bodies that a host's parser has read. Where the body may be a form, reads its fields as an object of texts.
 */
export function createBodyReader(
  limit: string | number,
): (req: Request, res: Response, options?: { mayBeForm: boolean }) => Promise<unknown> {
  const parse = json({ limit, strict: false, type: () => true });
  const parseText = text({ limit, type: () => true });
  return (req, res, { mayBeForm } = { mayBeForm: false }) => {
    const { 'content-type': type, 'content-length': length, 'transfer-encoding': encoding } = req.headers;
    const isEmpty = encoding === undefined && (length === undefined || length === '0');
    if (isEmpty) return Promise.resolve(undefined);
    if (req.destroyed && !req.readableEnded) return Promise.reject(badBody(new Error('the caller has left')));
    if (mayBeForm && isForm(type))
      return new Promise((resolve, reject) =>
        parseText(req, res, (error?: unknown) =>
          error ? reject(error) : resolve(typeof req.body === 'string' ? formFields(req.body) : req.body),
        ),
      );
    if (!isJson(type)) return Promise.reject(requestErrors.unsupportedType());
    const isPlain = PLAIN.test(type ?? '') && req.headers['content-encoding'] === undefined;
    // a limit such as `1mb` is not a number
    if (isPlain && req.readable && Number(length) <= Number(limit)) return readPlain(req);
    // body-parser sets no body where it read none: a chunked request without chunks
    return new Promise((resolve, reject) => parse(req, res, (error?: unknown) => (error ? reject(error) : resolve(req.body))));
  };
}
