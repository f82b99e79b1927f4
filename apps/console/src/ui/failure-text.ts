import { describeFailure } from '@tandem/client';

/** Server texts, translated for people. */
const WORDS: Readonly<Record<string, string>> = {
  'wrong credentials provided': 'The email or the password is wrong.',
  'This account is locked': 'This account is locked. Wait a while, reset the password, or ask an admin.',
  'Invalid MFA code provided.': 'That code is wrong, or was used already.',
  'Passkey could not be verified': 'That passkey is not known here.',
  'Invalid input': 'That password is wrong.',
  'Too many factors': 'You have ten factors already; remove one first.',
  'A second factor is required': 'A second factor is required: add one under Security.',
  'token could not be verified': 'That is no longer valid. Start again.',
  'Invalid token': 'That is no longer valid. Start again.',
  'Too many requests': 'Too many attempts. Wait a moment.',
};

const CANCELLED = ['NotAllowedError', 'AbortError'];

/** What went wrong, in a sentence or more. */
export function failureText(error: unknown): string {
  // the browser's own: the person has cancelled, or has no passkey for this page
  if (error instanceof Error && CANCELLED.includes(error.name)) return 'No passkey was chosen.';
  const { status, message, data, code } = describeFailure(error);
  // what a stream has refused has no status
  if (status === undefined && code === undefined) return 'The server cannot be reached. Is it running, and are you online?';
  if (data.length > 0) return data.map((problem) => problem.replace(/^request body[/ ]?/, '')).join(' · ');
  const text = WORDS[message] ?? message;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
