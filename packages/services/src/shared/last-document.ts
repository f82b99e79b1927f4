/**
 * Makes a document once for the same source and options, until others are asked for: it takes a tenth of a second and
 * more, and who asks may be anybody. A failure is not kept. Each caller gets a copy of its own.
 */
export function keepLast<Source, Options, Document>(make: (source: Source, options: Options) => Promise<Document>) {
  let last: { source: Source; key: string; text: Promise<string> } | undefined;

  return async (source: Source, options: Options): Promise<Document> => {
    const key = JSON.stringify(options);
    if (last?.source !== source || last.key !== key)
      last = { source, key, text: make(source, options).then((document) => JSON.stringify(document)) };
    const asked = last;
    try {
      return JSON.parse(await asked.text) as Document;
    } catch (error) {
      if (last === asked) last = undefined;
      throw error;
    }
  };
}
