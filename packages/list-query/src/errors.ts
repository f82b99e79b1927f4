/** A problem with one parameter, and its position in the text. */
export interface ListQueryProblem {
  parameter: string;
  /** Characters before the position; 0 where the whole parameter is meant. */
  offset: number;
  message: string;
}

/** Invalid parameters of a list query. The message is meant for the caller. */
export class ListQueryError extends Error {
  readonly status = 400;
  readonly parameter: string;
  readonly offset: number;

  constructor(
    problem: ListQueryProblem,
    /** One problem per wrong parameter; the error's own message is the first. */
    readonly problems: readonly ListQueryProblem[] = [problem],
  ) {
    super(problem.message);
    this.name = 'ListQueryError';
    this.parameter = problem.parameter;
    this.offset = problem.offset;
  }
}

/**
 * The `$nextToken` belongs to another query or was forged: the message deliberately does not say which (decisions L5).
 */
export class NextTokenError extends ListQueryError {
  constructor() {
    super({ parameter: '$nextToken', offset: 0, message: 'Invalid $nextToken' });
    this.name = 'NextTokenError';
  }
}

/** The query exceeded its time limit. The text is not at fault: it may be fast over fewer rows. */
export class ListTimeLimitError extends Error {
  readonly status = 503;

  constructor(maxTimeMs: number, cause?: unknown) {
    super(`The list query was stopped by its time limit of ${maxTimeMs} ms`, { cause });
    this.name = 'ListTimeLimitError';
  }
}

/** A problem at a position of a parameter's text. */
export function problemAt(parameter: string, offset: number, what: string): ListQueryError {
  return new ListQueryError({ parameter, offset, message: `query parameter '${parameter}' ${what} at offset ${offset}` });
}

/** A problem of a parameter as a whole. */
export function problemOf(parameter: string, what: string): ListQueryError {
  return new ListQueryError({ parameter, offset: 0, message: `query parameter '${shorten(parameter)}' ${what}` });
}

/** Shortens caller text for a message: an answer must not echo kilobytes. */
export function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Collects the problems of several parameters for one answer. */
export class Problems {
  readonly #found: ListQueryError[] = [];

  /** The result of `work`, or undefined when it reports a problem. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ListQueryError)) throw error;
      this.#found.push(error);
      return undefined;
    }
  }

  add(error: ListQueryError): void {
    this.#found.push(error);
  }

  /** @throws ListQueryError with all problems, if there are any */
  raise(): void {
    const problems = this.#found.flatMap((error) => error.problems);
    if (problems[0]) throw new ListQueryError(problems[0], problems);
  }
}
