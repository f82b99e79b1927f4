/** A word of the reader's language for a field; undefined where there is none. */
type FieldText = (name: string) => string | undefined;

/** `request body/price/amount must be …`, `query parameter 'roles' must …`: where it is, and what is wrong there. */
const PLACED = /^(?:request body|(?:query|path) parameter '(\w+)'|header '[\w-]+')?((?:\/\w+)*)\s*(.*)$/s;
const COUNT = String.raw`-?[\d.]+`;
/** Arguments that name a field. */
const NAMES = /^field/;

/** A pattern of what the server says, `must be >= {count}`, as a regular expression. */
function expressionOf(pattern: string): RegExp {
  const parts = pattern
    .split(/(\{\w+\})/)
    .map((part) =>
      part.startsWith('{')
        ? `(?<${part.slice(1, -1)}>${part === '{count}' ? COUNT : '.+?'})`
        : part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`),
    );
  return new RegExp(`^${parts.join('')}$`, 's');
}

/**
 * What is wrong with an input, as the server says it, in the reader's language: with the name of its field, where it has one.
 * @param sentences those of the language, by the patterns of the server's
 * @returns undefined for what the language does not say
 */
export function problemIn(
  sentences: Readonly<Record<string, string>>,
  problem: string,
  fieldText: FieldText,
): { field: string | undefined; text: string } | undefined {
  const [, parameter, path = '', said = ''] = PLACED.exec(problem) ?? [];
  const names = path.split('/').filter((name) => /\D/.test(name));
  const field = [...names.toReversed(), ...(parameter === undefined ? [] : [parameter])].map(fieldText).find(Boolean);
  if ((names.length > 0 || parameter !== undefined) && field === undefined) return undefined;
  for (const [pattern, sentence] of Object.entries(sentences)) {
    const found = expressionOf(pattern).exec(said);
    if (!found) continue;
    const given = Object.entries(found.groups ?? {}).map(([name, value]) => [
      name,
      NAMES.test(name) ? (fieldText(value) ?? value) : value,
    ]);
    const values = Object.fromEntries(given) as Record<string, string>;
    return { field, text: sentence.replaceAll(/\[(\w+)\]/g, (_, name: string) => values[name] ?? '') };
  }
  return undefined;
}
