import { describeFailure } from '@tandem/client';
import { problem, readerLanguage, t, term } from '../texts/texts.js';

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

/** What is wrong with an input, with its field's name, in the reader's language; undefined where that has no sentence for it. */
function problemText(said: string): string | undefined {
  const { field, text } = problem(said) ?? {};
  return field === undefined ? text : t('ui.failures.at', { field, problem: text ?? '' });
}

/** What went wrong, in a sentence or more: what the language does not say is on a line of its own, in the server's words. */
export function failureText(error: unknown): string {
  if (error instanceof ToldFailure) return error.message;
  // the browser's own: the person has cancelled, or has no passkey for this page
  if (error instanceof Error && CANCELLED.includes(error.name)) return t('ui.failures.noPasskey');
  const { status, message, data, code } = describeFailure(error);
  // what a stream has refused has no status
  if (status === undefined && code === undefined) return t('ui.failures.unreachable');
  if (data.length > 0) {
    const plain = (said: string) => said.replace(/^request body[/ ]?/, '');
    const invalid = term('errors', 'request.invalid');
    if (invalid === undefined) return data.map(plain).join(' · ');
    return [invalid, ...data.map((said) => problemText(said) ?? plain(said))].join('\n');
  }
  if (isKnown(message)) return t(`ui.failures.${WORDS[message]}`);
  const known = term('errors', code ?? '');
  if (known !== undefined) return known;
  return `${readerLanguage() === 'en' ? '' : '\n'}${message.charAt(0).toUpperCase()}${message.slice(1)}`;
}
