import { describeFailure } from '@tandem/client';
import { t, term } from '../texts/texts.js';

/** Server texts, said for people. */
const WORDS = {
  'wrong credentials provided': 'credentials',
  'This account is locked': 'locked',
  'Invalid MFA code provided.': 'code',
  'Passkey could not be verified': 'passkey',
  'Invalid input': 'password',
  'Too many factors': 'tooManyFactors',
  'A second factor is required': 'factorNeeded',
  'token could not be verified': 'token',
  'Invalid token': 'token',
  'Too many requests': 'tooMany',
} as const;
const isKnown = (message: string): message is keyof typeof WORDS => Object.hasOwn(WORDS, message);

const CANCELLED = ['NotAllowedError', 'AbortError'];

/** A failure of the page's own, whose message is for people. */
export class ToldFailure extends Error {}

/** What went wrong, in a sentence or more. */
export function failureText(error: unknown): string {
  if (error instanceof ToldFailure) return error.message;
  // the browser's own: the person has cancelled, or has no passkey for this page
  if (error instanceof Error && CANCELLED.includes(error.name)) return t('ui.failures.noPasskey');
  const { status, message, data, code } = describeFailure(error);
  // what a stream has refused has no status
  if (status === undefined && code === undefined) return t('ui.failures.unreachable');
  if (data.length > 0) {
    const problems = data.map((problem) => problem.replace(/^request body[/ ]?/, '')).join(' · ');
    return [term('errors', 'request.invalid') ?? [], problems].flat().join(' ');
  }
  if (isKnown(message)) return t(`ui.failures.${WORDS[message]}`);
  const text = term('errors', code ?? '') ?? message;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
