export interface Person {
  email: string;
  password: string;
  fingerprint: string;
}

/** What a program saw. */
export interface Answers {
  unread: number | undefined;
  /** Status and message of a call without the fingerprint that was given at login. */
  withoutFingerprint: [status: number | undefined, message: string | undefined];
  /** Names in a filtered list. */
  names: string[];
}
