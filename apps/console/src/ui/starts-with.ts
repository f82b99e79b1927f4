/** The least text that begins with another, and one that is greater than all that do: lists compare texts by their bytes. */
export function startsWith(text: string): [from: string, to: string] {
  return [text, `${text}\u{10ffff}`];
}
