import { RETRY_AFTER_UNAVAILABLE, requestErrors } from './errors.js';

/** Something that emits `close` when a caller leaves: a response or a socket. */
interface Line {
  once(event: 'close', listener: () => void): unknown;
  readonly destroyed?: boolean;
}

/** Listeners for a caller's departure. The response or socket gets one listener, however many calls it carries. */
export class Departures {
  readonly #listeners = new Set<() => void>();
  #isListening = false;

  constructor(private readonly line: Line) {}

  add(listener: () => void): void {
    if (this.line.destroyed === true) return listener();
    this.#listeners.add(listener);
    if (this.#isListening) return;
    this.#isListening = true;
    this.line.once('close', () => {
      for (const one of this.#listeners) one();
    });
  }

  delete(listener: () => void): void {
    this.#listeners.delete(listener);
  }
}

/**
 * Cancels one call when its caller leaves or its deadline passes. Made for every call, so nothing is allocated until a
 * handler asks for the signal.
 */
export class Waiting {
  #controller: AbortController | undefined;
  #isOver = false;
  readonly #over = () => this.over();

  constructor(private readonly departures: Departures) {}

  /** Aborted, with a 503 as its reason, when nobody waits for the answer any more. */
  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    this.#controller = new AbortController();
    if (this.#isOver) this.#abort();
    else this.departures.add(this.#over);
    return this.#controller.signal;
  }

  /** Whether the call was answered or abandoned. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The call was answered or abandoned. */
  over(): void {
    this.#isOver = true;
    if (!this.#controller) return;
    this.departures.delete(this.#over);
    this.#abort();
  }

  #abort(): void {
    this.#controller?.abort(requestErrors.unavailable({ retryAfter: RETRY_AFTER_UNAVAILABLE }));
  }
}
