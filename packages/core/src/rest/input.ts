import type { Request, Response } from 'express';
import { declaredError } from '../answer.js';
import type { RequestContext, ServerFacts } from '../context.js';
import { validationError } from '../errors.js';
import { tooDeep, withoutExcess } from '../excess-input.js';
import { serviceOf, type Operation, type TextKind } from '../operation.js';
import { unknownBodyText, unknownQueryText, validationTexts } from '../validation-texts.js';
import { createBodyReader } from './body.js';

/** The input of a REST request as given, and the problems that its schema cannot see. */
interface GivenInput {
  entries: [string, unknown][];
  problems: string[];
}

/** Converts text to the declared type; text that does not convert is left for the schema to refuse. */
function fromText(kind: TextKind | undefined, text: string): unknown {
  if (kind === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/** The query's pairs, in order, repeated ones included. */
function parseQuery(req: Request): [string, string][] {
  const start = req.url.indexOf('?');
  if (start < 0) return [];
  const text = req.url.slice(start + 1);
  try {
    decodeURIComponent(text);
  } catch {
    throw validationError(['query must be correctly percent-encoded']);
  }
  return [...new URLSearchParams(text)];
}

function readQuery(operation: Operation, req: Request): GivenInput {
  const values = new Map<string, unknown>();
  const problems: string[] = [];
  for (const [key, text] of parseQuery(req)) {
    const kind = Object.hasOwn(operation.textKinds, key) ? operation.textKinds[key] : undefined;
    if (operation.hasBody || operation.pathKeys.includes(key)) problems.push(unknownQueryText(key));
    else if (kind === 'array') values.set(key, [...((values.get(key) as string[] | undefined) ?? []), text]);
    else if (values.has(key)) problems.push(`query parameter '${key}' must NOT be repeated`);
    else values.set(key, fromText(kind, text));
  }
  return { entries: [...values], problems: [...new Set(problems)] };
}

/**
 * The body of a request with the problems of its query, as the procedure's schema expects, with problems for misplaced
 * keys.
 */
function takeBody(operation: Operation, whole: unknown, { problems }: GivenInput): GivenInput {
  const given = operation.bodyKey === undefined && operation.schema ? withoutExcess(operation.schema, whole) : whole;
  const body = given === undefined && operation.bodyKey === undefined ? {} : given;
  if (operation.bodyKey !== undefined) return { entries: [[operation.bodyKey, body]], problems };
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw validationError([...problems, 'request body must be object']);
  const entries = Object.entries(body).filter(([key]) => !operation.pathKeys.includes(key));
  const misplaced = Object.keys(body).filter((key) => operation.pathKeys.includes(key));
  return { entries, problems: [...problems, ...misplaced.map((key) => unknownBodyText(key))] };
}

/** The input of one REST call. The body is read once, on first use. */
export interface RestInput {
  /** The input as given, for rules that check a value before validation. */
  peek(): Promise<unknown>;
  /** The procedure's input. When something is misplaced, throws all problems at once, those of the schema included. */
  read(): Promise<unknown>;
}

/** Makes the reader of REST inputs. Limits are in bytes, or strings such as `1mb`; services may have lower ones. */
export function createInputReader(server: ServerFacts, bodyLimit: string | number) {
  const readers = new Map<string | number, ReturnType<typeof createBodyReader>>();
  function readBody(operation: Operation, req: Request, res: Response): Promise<unknown> {
    const limit = server.inputLimits?.[serviceOf(operation.name)] ?? bodyLimit;
    const reader = readers.get(limit) ?? createBodyReader(limit);
    readers.set(limit, reader);
    return reader(req, res, { mayBeForm: operation.options.isForm === true });
  }
  return (operation: Operation, ctx: RequestContext, req: Request<Record<string, string>>, res: Response): RestInput => {
    const { params } = req;
    let given: Promise<{ input: unknown; problems: string[] }> | undefined;
    async function gather() {
      try {
        if (operation.hasBody) await server.bodyTurn?.(ctx);
        const query = readQuery(operation, req);
        const { entries, problems } = operation.hasBody ? takeBody(operation, await readBody(operation, req, res), query) : query;
        const fromPath = Object.entries(params).map(([key, text]) => [key, fromText(operation.textKinds[key], text)] as const);
        // fromEntries defines properties; assigning a `__proto__` key of the body would call its setter
        return { input: Object.fromEntries([...entries, ...fromPath]), problems };
      } catch (error) {
        throw declaredError(error) ?? tooDeep(error) ?? error;
      }
    }
    const once = () => (given ??= gather());
    return {
      peek: async () => (await once()).input,
      async read() {
        const { input, problems } = await once();
        if (problems.length === 0) return input;
        const result = await operation.schema?.safeParseAsync(input);
        throw validationError([...(result?.error ? validationTexts(result.error.issues, input, operation) : []), ...problems]);
      },
    };
  };
}
