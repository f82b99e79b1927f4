import type { z } from 'zod';
import { MOST_PROBLEMS } from './errors.js';

/** Where a top-level input key comes from on the REST face; the tRPC face names the same places (decisions T5). */
export interface InputPlaces {
  pathKeys: readonly string[];
  hasBody: boolean;
  /** The input key that stands for a whole body that is an array. */
  bodyKey?: string;
}

type Issue = z.core.$ZodIssue;

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}

/** Size bounds, in the nouns of JSON Schema validators. */
function boundText(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const isSmall = issue.code === 'too_small';
  const limit = isSmall ? issue.minimum : issue.maximum;
  const noun =
    issue.origin === 'string' ? 'characters' : issue.origin === 'array' || issue.origin === 'set' ? 'items' : undefined;
  if (noun) return `must NOT have ${isSmall ? 'fewer' : 'more'} than ${limit} ${noun}`;
  return `must be ${isSmall ? '>' : '<'}${issue.inclusive === false ? '' : '='} ${limit}`;
}

/** JSON Schema's names for what Zod expects. */
const TYPE_NAMES: Record<string, string> = { int: 'integer', record: 'object', tuple: 'array', map: 'object', set: 'array' };

function allowedText(values: readonly unknown[]): string {
  return `must be equal to one of the allowed values: ${values.map(String).join(', ')}`;
}

/** The text for a value that is present and wrong. */
function problemText(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'too_small':
    case 'too_big':
      return boundText(issue);
    case 'invalid_format':
      return issue.format === 'regex' ? `must match pattern "${issue.pattern}"` : `must match format "${issue.format}"`;
    case 'not_multiple_of':
      return `must be multiple of ${issue.divisor}`;
    case 'invalid_value':
      return allowedText(issue.values);
    case 'invalid_union':
      return 'options' in issue && issue.options ? allowedText(issue.options) : 'must match one of the allowed shapes';
    case 'custom':
      return issue.message;
    default:
      return 'must be valid';
  }
}

/** A key sent by the caller, shortened: an error answer must not echo kilobytes. */
function quoteKey(key: string): string {
  return `'${key.length > 100 ? `${key.slice(0, 100)}…` : key}'`;
}

/** An unknown key of the query (decisions, "Validation texts"). */
export function unknownQueryText(key: string): string {
  return `query parameter ${quoteKey(key)} is not allowed`;
}

/** An unknown key at `pointer` of the body; keys of the body itself have no pointer. */
export function unknownBodyText(key: string, pointer = ''): string {
  return `request body${pointer} must NOT have additional properties: ${quoteKey(key)}`;
}

function issueTexts(issue: Issue, input: unknown, places: InputPlaces): string[] {
  const [head, ...rest] = issue.path.map(String);
  const isUnknown = issue.code === 'unrecognized_keys';
  const isMissing = issue.code !== 'custom' && valueAt(input, issue.path) === undefined;
  if (head !== undefined && places.pathKeys.includes(head))
    return [`path parameter '${head}' ${isMissing ? 'is required' : problemText(issue)}`];
  if (!places.hasBody) {
    if (isUnknown && head === undefined) return issue.keys.map(unknownQueryText);
    if (head === undefined) return [`query parameters ${problemText(issue)}`];
    if (isMissing) return [`query parameter '${head}' is required`];
    return [`query parameter '${head}' ${problemText(issue)}`];
  }
  const path = head === places.bodyKey ? rest : issue.path.map(String);
  const pointer = (keys: readonly string[]) => keys.map((key) => `/${key}`).join('');
  if (isUnknown) return issue.keys.slice(0, MOST_PROBLEMS + 1).map((key) => unknownBodyText(key, pointer(path)));
  const last = path.at(-1);
  if (isMissing && last !== undefined) return [`request body${pointer(path.slice(0, -1))} must have required property '${last}'`];
  return [`request body${pointer(path)} ${problemText(issue)}`];
}

/**
 * Zod's problems, each worded as in decisions, "Validation texts": missing or wrong values before unknown keys. Of very
 * many, only the first, and one more than an answer lists.
 * @param input the validated value: a value absent there is a missing property, not a wrong type
 */
export function validationTexts(issues: readonly Issue[], input: unknown, places: InputPlaces): string[] {
  const isUnknown = ({ code }: Issue) => code === 'unrecognized_keys';
  const texts: string[] = [];
  for (const issue of [...issues.filter((one) => !isUnknown(one)), ...issues.filter(isUnknown)]) {
    texts.push(...issueTexts(issue, input, places));
    if (texts.length > MOST_PROBLEMS) break;
  }
  return texts;
}
