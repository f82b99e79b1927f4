const KEY = 'tandem.identityId';

/** In cookie mode no script sees whose the session is: the id is kept beside it, for all tabs as the cookies are. */
export const cookieOwner = {
  load: () => localStorage.getItem(KEY) ?? undefined,
  save: (identityId: string) => localStorage.setItem(KEY, identityId),
  clear: () => localStorage.removeItem(KEY),
};
