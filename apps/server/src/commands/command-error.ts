/** A command that refuses to run: the message tells the user why. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
