/** What a request called and how that was answered, where its URL and HTTP status do not tell. */
export interface Answered {
  operation: string;
  status: number;
}

const answered = new WeakMap<object, Answered>();

/** Notes for the log what was called by a request whose URL does not tell. */
export function noteAnswered(request: object, answer: Answered): void {
  answered.set(request, answer);
}

/** What was called by a request of the MCP face; undefined for all others, and before the answer. */
export function answeredBy(request: object): Answered | undefined {
  return answered.get(request);
}
