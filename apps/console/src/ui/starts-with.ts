/** The last code point of the characters, after which those of surrogates come. */
const BEFORE_SURROGATES = 0xd7ff;

/**
 * The bounds of all texts with this prefix: the prefix, and the least text above them. Lists compare texts by bytes,
 * which puts characters in the order of their code points.
 */
export function startsWith(prefix: string): [from: string, below: string] {
  const below = prefix.replace(/.$/su, (last) => {
    const point = last.codePointAt(0) ?? 0;
    return String.fromCodePoint(point === BEFORE_SURROGATES ? 0xe000 : point + 1);
  });
  return [prefix, below];
}
