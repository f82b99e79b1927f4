/** What is wrong with one parameter, and where in its text. */
export interface ListQueryProblem {
  parameter: string;
  /** Characters before the place; 0 where the parameter as a whole is meant. */
  offset: number;
  message: string;
}

/** The parameters of a list query are not what they may be. The message is meant for the caller. */
export class ListQueryError extends Error {
  readonly status = 400;
  readonly parameter: string;
  readonly offset: number;

  constructor(
    problem: ListQueryProblem,
    /** One problem for each wrong parameter; the first one is the error's own. */
    readonly problems: readonly ListQueryProblem[] = [problem],
  ) {
    super(problem.message);
    this.name = 'ListQueryError';
    this.parameter = problem.parameter;
    this.offset = problem.offset;
  }
}

/** The `$nextToken` was made by another query, or by somebody else: the one error that says no more than that (decisions L5). */
export class NextTokenError extends ListQueryError {
  constructor() {
    super({ parameter: '$nextToken', offset: 0, message: 'Invalid $nextToken' });
    this.name = 'NextTokenError';
  }
}

/** The query did not end within its time. No fault of the text, which may be fine over fewer rows. */
export class ListTimeLimitError extends Error {
  readonly status = 503;

  constructor(maxTimeMs: number, cause?: unknown) {
    super(`The list query was stopped by its time limit of ${maxTimeMs} ms`, { cause });
    this.name = 'ListTimeLimitError';
  }
}

/** A problem at a place of a parameter's text. */
export function problemAt(parameter: string, offset: number, what: string): ListQueryError {
  return new ListQueryError({ parameter, offset, message: `query parameter '${parameter}' ${what} at offset ${offset}` });
}

/** A problem of a parameter as a whole. */
export function problemOf(parameter: string, what: string): ListQueryError {
  return new ListQueryError({ parameter, offset: 0, message: `query parameter '${shorten(parameter)}' ${what}` });
}

/** Text of the caller's, for a message: an answer does not echo kilobytes. */
export function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Collects the problems of several parameters, so that one answer names them all. */
export class Problems {
  readonly #found: ListQueryError[] = [];

  /** What `work` gives, or undefined when it finds a problem. */
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

  /** @throws ListQueryError with every problem, where there is any */
  raise(): void {
    const problems = this.#found.flatMap((error) => error.problems);
    if (problems[0]) throw new ListQueryError(problems[0], problems);
  }
}
