/** A command that will not do what it was asked: the message says why, to the person who asked. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
