/**
 * The bounds of all texts with this prefix: the prefix, and the least text above them; lists compare texts by bytes.
 */
export function startsWith(text: string): [from: string, to: string] {
  return [text, `${text}\u{10ffff}`];
}
