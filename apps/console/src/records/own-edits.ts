import { knownVersion, type Row } from './call.js';

/** What this page's edits have made of versions, or will; undefined where an edit failed. A version names its record, too. */
const left = new Map<string, Promise<string | undefined>>();

/**
 * Edits a record in the version that the person's own edits leave: a form may open while one is under way, or before the
 * record is read again.
 * @param version the version that the form knows
 * @param edit changes the record in a version, and answers it as it is then
 */
export async function editAfterOwn(version: string, edit: (version: string) => Promise<unknown>): Promise<unknown> {
  let from = version;
  for (let next; (next = await left.get(from)) !== undefined && next !== from;) from = next;
  const answer = edit(from);
  left.set(
    from,
    answer.then(
      (record) => knownVersion(record as Row),
      () => undefined,
    ),
  );
  return answer;
}
