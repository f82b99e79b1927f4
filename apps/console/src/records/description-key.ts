/** What the document says of many fields alike. */
const FOR_MANY = [
  [/^Only rows with exactly this `\w+`\.$/, 'Only rows with exactly this `…`.'],
  [/^The id of the [\w ]+\.$/, 'The id of the ….'],
] as const;

/** What a description is found by. */
export const descriptionKey = (description: string): string =>
  FOR_MANY.find(([pattern]) => pattern.test(description))?.[1] ?? description;
