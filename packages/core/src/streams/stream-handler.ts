import { z } from 'zod';
import type { ServerFacts } from '../context.js';
import { withDeadline } from '../deadline.js';
import { describeError } from '../error-log.js';
import { ApiError, requestErrors, unexpectedError, validationError } from '../errors.js';
import { validationTexts } from '../validation-texts.js';
import { countFrame } from './pace.js';
import type { StreamSocket } from './stream-socket.js';

/** Frames of a socket that may wait for those before them. */
const PENDING_MAX = 100;
/** Longest name of what a frame was about that an error frame repeats, in characters. */
const ECHO_MAX = 100;

const PLACES = { pathKeys: [], hasBody: true };

/** A frame of a client: `ping`, which every stream answers, or one of its handler's. */
export interface ClientFrame {
  type: string;
}

/** What one kind of stream does with the frames of its clients. */
export interface StreamHandler<Frame extends ClientFrame = ClientFrame> {
  frames: z.ZodType<Frame>;
  /** Works on a frame; the next one of the socket waits for it. What it throws is said by an `error` frame. */
  handle(socket: StreamSocket, frame: Frame): Promise<void>;
  /** The only text that an unexpected failure shows. */
  failureOf(frame: Frame): string;
  /** The socket has gone. */
  closed(socket: StreamSocket): void;
}

export const PingFrame = z.strictObject({ type: z.literal('ping') });

/** How every stream says that a frame was refused (decisions S5, H21). */
export const ErrorFrame = z.object({
  type: z.literal('error'),
  message: z.string(),
  /** The service that declares the error, and its name there: `chat.notSubscribed`. */
  errorCode: z.string(),
  /** The same frame may be taken later: a limit was reached, or the server failed. */
  retry: z.literal(true).optional(),
  /** The problems of a frame that is not valid, one text each. */
  data: z.array(z.string()).readonly().optional(),
  /** What the refused frame had said that it was about. */
  clientId: z.string().optional(),
  channelId: z.string().optional(),
});
export type ErrorFrame = z.infer<typeof ErrorFrame>;

/** What the sender of a frame is told of its failure, by the names that it gave itself. @param given the frame as it came */
export function errorFrameOf({ message, data, errorCode, mayPass }: ApiError, given: unknown): ErrorFrame {
  const { clientId, channelId } = (given ?? {}) as Record<string, unknown>;
  const isEcho = (text: unknown): text is string => typeof text === 'string' && text.length <= ECHO_MAX;
  return {
    type: 'error',
    message,
    errorCode,
    ...(mayPass && { retry: true }),
    ...(data && { data }),
    ...(isEcho(clientId) && { clientId }),
    ...(isEcho(channelId) && { channelId }),
  };
}

/** Makes the one path that all frames of clients take, whatever is in them. */
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

  /** What a caller may see of a failure; an unexpected one is logged, without its values. */
  function translate(error: unknown, failure: string): ApiError {
    if (error instanceof ApiError) return error;
    server.log.error({ err: describeError(error) }, 'unexpected failure in a stream');
    return unexpectedError(failure, { isUnavailable: server.isUnavailable(error), cause: error });
  }

  async function work(socket: StreamSocket, handler: StreamHandler, frame: ClientFrame, before: Promise<void> | undefined) {
    await before;
    try {
      // who has gone sends again what was not acknowledged: so long a line would be in the way of that
      if (socket.readyState !== socket.OPEN) return;
      await withDeadline(server.deadlineMs, handler.handle(socket, frame));
    } catch (error) {
      socket.say(errorFrameOf(translate(error, handler.failureOf(frame)), frame));
    } finally {
      socket.pending -= 1;
      if (socket.pending === 0) socket.work = undefined;
    }
  }

  /** Takes a frame as it came. Never throws. */
  function receive(socket: StreamSocket, handler: StreamHandler, data: Buffer, isBinary: boolean): void {
    const isWithin = countFrame(socket) && server.places.frames(socket, 1) === 1 && socket.pending < PENDING_MAX;
    let given: unknown;
    try {
      if (isBinary) throw validationError(['frame must be text']);
      given = parse(data.toString());
      // only now: the refusal names what the frame was about, so that it can be sent again
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
