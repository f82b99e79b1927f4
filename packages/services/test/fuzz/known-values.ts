import * as fc from 'fast-check';

/** So many values of a kind are kept, the newest. */
const KEPT = 40;

/** Stands for whoever sends the request. */
export const SELF = '5e1f5e1f-0000-7000-8000-5e1f5e1f5e1f';

/** The kind of records that were deleted. */
export const GONE = 'gone';

/** Words that name an identity by what it does. */
const IDENTITIES = new Set(['owner', 'sender', 'subscribed', 'receiver', 'member', 'identity', 'buyer']);
/** Keys of answers whose values a later request may want under another name. */
const TOKENS = new Set(['onetimeToken', 'accessToken', 'refreshToken', 'token', 'ticket', 'nextToken']);

/** `followProfileId` gives `profile`, `categoryIds` gives `category`; undefined for what names no kind of record. */
function kindOf(key: string): string | undefined {
  const word = /([a-zA-Z][a-z]*)Ids?$/.exec(key)?.[1]?.toLowerCase();
  return word !== undefined && IDENTITIES.has(word) ? 'identity' : word;
}

/** The kind of what a plural names: `categories` gives `category`. */
function singular(plural: string): string {
  return plural.replace(/ies$/, 'y').replace(/s$/, '');
}

/** `/products/{productId}/variants` gives `variant`: what is found there. */
function kindAt(path: string): string {
  const word = path.split('/').filter((part) => part !== '' && !part.startsWith('{')).at(-1) ?? ''; // prettier-ignore
  return singular(word.split('-').at(-1) ?? '');
}

/** What exists in the system under test, as far as its answers have told: ids by the kind of their record, tokens, texts. */
export function createKnownValues() {
  const values = new Map<string, unknown[]>();

  function add(kind: string, value: unknown, place = 0): void {
    const others = (values.get(kind) ?? []).filter((one) => one !== value);
    values.set(kind, others.toSpliced(place, 0, value).slice(0, KEPT));
  }
  /** One of a kind, mostly the first, drawn when it is asked for, so that a request is about what exists by then. */
  function known(kind: string): fc.Arbitrary<unknown> {
    return fc.tuple(fc.nat({ max: 3 }), fc.nat()).map(([die, n]) => {
      const ofKind = values.get(kind) ?? [];
      return die < 3 ? ofKind[0] : ofKind[n % ofKind.length];
    });
  }
  function first(kind: string): unknown {
    return values.get(kind)?.[0];
  }
  /** Forgets what was known, but for what is deleted: that can be restored. */
  function forget(): void {
    for (const kind of values.keys()) if (kind !== GONE) values.delete(kind);
  }
  function learnOf(kind: string, body: object): void {
    for (const [key, value] of Object.entries(body)) {
      // rows are of the list's kind, other records of the kind of their key
      const isRow = Array.isArray(body) || key === 'data' || key === 'value';
      if (typeof value === 'object' && value !== null) learnOf(isRow ? kind : singular(key), value as object);
      if (typeof value !== 'string') continue;
      if (key === 'id') for (const one of [kind, 'any']) add(one, value, 1);
      else if (key === 'objectId') add(key, value);
      else if (TOKENS.has(key)) add(key === 'nextToken' ? key : 'token', value, 1);
      else if (kindOf(key) !== undefined) add(kindOf(key) as string, value, 1);
    }
  }
  /** Takes what an answer tells; what was added by itself stays first. */
  function learn(path: string, body: unknown): void {
    if (typeof body === 'object' && body !== null) learnOf(kindAt(path), body);
  }
  return {
    add,
    known,
    forget,
    first,
    learn,
    kindOf: (key: string, path: string) => kindOf(key) ?? kindAt(path),
  };
}
export type KnownValues = ReturnType<typeof createKnownValues>;
