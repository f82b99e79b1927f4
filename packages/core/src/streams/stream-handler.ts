import { z } from 'zod';
import type { ServerFacts } from '../context.js';
import { withDeadline } from '../deadline.js';
import { describeError } from '../error-log.js';
import { ApiError, requestErrors, unexpectedError, validationError } from '../errors.js';
import { validationTexts } from '../validation-texts.js';
import type { ClientFrame, StreamHandler, StreamSocket } from './stream-socket.js';

/** Frames of a socket that may be queued behind the one at work. */
const PENDING_MAX = 100;
/** Longest name repeated in an error frame, in characters. */
const ECHO_MAX = 100;

const PLACES = { pathKeys: [], hasBody: true };

export const PingFrame = z.strictObject({ type: z.literal('ping') }).describe('Asks for a `pong`.');
export const PongFrame = z.object({ type: z.literal('pong') }).describe('Answers a `ping`.');

/**
 * How every stream reports a refused frame: with the codes of the REST errors, so that clients handle both alike
 * (decisions S5, H21).
 */
export const ErrorFrame = z
  .object({
    type: z.literal('error'),
    message: z.string(),
    /** The declaring service and the error's name there: `chat.notSubscribed`. */
    errorCode: z.string(),
    /** A retry of the same frame may succeed: a limit was reached, or the server failed. */
    retry: z.literal(true).optional(),
    /** The problems of an invalid frame, one text each. */
    data: z.array(z.string()).readonly().optional(),
    /** The names by which the refused frame identified itself. */
    clientId: z.string().optional(),
    channelId: z.string().optional(),
    self: z.literal(true).optional(),
  })
  .describe('A frame was refused.');
export type ErrorFrame = z.infer<typeof ErrorFrame>;

/** The error frame for a failed frame, with the names that its sender gave it. @param given the frame as received */
export function errorFrameOf({ message, data, errorCode, mayPass }: ApiError, given: unknown): ErrorFrame {
  const { clientId, channelId, self } = (given ?? {}) as Record<string, unknown>;
  const isEcho = (text: unknown): text is string => typeof text === 'string' && text.length <= ECHO_MAX;
  return {
    type: 'error',
    message,
    errorCode,
    ...(mayPass && { retry: true }),
    ...(data && { data }),
    ...(isEcho(clientId) && { clientId }),
    ...(isEcho(channelId) && { channelId }),
    ...(self === true && { self }),
  };
}

/** Makes the single path for all client frames, valid or not. */
export function createFrameReader(server: ServerFacts) {
  function parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw validationError(['frame must be valid JSON'], { cause: error });
    }
  }

  function check(schema: z.ZodType<ClientFrame>, given: unknown): ClientFrame {
    const result = schema.safeParse(given);
    if (result.success) return result.data;
    const texts = validationTexts(result.error.issues, given, PLACES);
    throw validationError(texts.map((text) => text.replace(/^request body/, 'frame')));
  }

  /** The error that a caller may see; an unexpected failure is logged, without its values. */
  function translate(error: unknown, failure: string): ApiError {
    if (error instanceof ApiError) return error;
    server.log.error({ err: describeError(error) }, 'unexpected failure in a stream');
    return unexpectedError(failure, { isUnavailable: server.isUnavailable(error), cause: error });
  }

  async function work(socket: StreamSocket, handler: StreamHandler, frame: ClientFrame, before: Promise<void> | undefined) {
    await before;
    try {
      // a client that has left resends what was not acknowledged: working off a long queue would delay that
      if (socket.readyState !== socket.OPEN) return;
      await withDeadline(server.deadlineMs, handler.handle(socket, frame));
    } catch (error) {
      socket.say(errorFrameOf(translate(error, handler.failureOf(frame)), frame));
    } finally {
      socket.pending -= 1;
      if (socket.pending === 0) socket.work = undefined;
    }
  }

  /** Takes a counted frame. Never throws. */
  function receive(socket: StreamSocket, handler: StreamHandler, data: Buffer, isBinary: boolean): void {
    const isWithin = socket.isWithinRate && socket.pending < PENDING_MAX;
    let given: unknown;
    try {
      if (isBinary) throw validationError(['frame must be text']);
      given = parse(data.toString());
      // refused only now, so that the refusal names the frame and the client can resend it
      if (!isWithin) throw requestErrors.tooMany();
      const frame = check(handler.frames, given);
      if (frame.type === 'ping') return socket.say({ type: 'pong' });
      socket.pending += 1;
      socket.work = work(socket, handler, frame, socket.work);
    } catch (error) {
      socket.say(errorFrameOf(translate(error, requestErrors.unexpected.message), given));
    }
  }

  return receive;
}
