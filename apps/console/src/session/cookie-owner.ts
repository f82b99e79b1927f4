const KEY = 'tandem.identityId';

/**
 * In cookie mode scripts cannot read whose session it is, so the id is stored beside it, shared by all tabs as the
 * cookies are.
 */
export const cookieOwner = {
  load: () => localStorage.getItem(KEY) ?? undefined,
  save: (identityId: string) => localStorage.setItem(KEY, identityId),
  clear: () => localStorage.removeItem(KEY),
  /** Tells whose the cookies are once another tab has changed it. Returns what ends that. */
  watch(onChange: (identityId: string | undefined) => void): () => void {
    const listener = ({ key }: StorageEvent): void => {
      if (key === KEY || key === null) onChange(cookieOwner.load());
    };
    addEventListener('storage', listener);
    return () => removeEventListener('storage', listener);
  },
};
