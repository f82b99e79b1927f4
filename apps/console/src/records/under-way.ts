import { useMutationState } from '@tanstack/react-query';
import { useCallback } from 'react';

type Fields = Readonly<Record<string, unknown>>;

/** What records become, by their ids: their new values, or null where they go. */
export type Becoming = ReadonlyMap<string, Fields | null>;

/** The key of the mutations whose variables say what records become. */
export const CHANGES = ['change'];

/** What a record is with all changes that are under way; undefined where one removes it. */
export function useUnderWay(): (row: Fields) => Fields | undefined {
  const changes = useMutationState({
    filters: { mutationKey: CHANGES, status: 'pending' },
    select: ({ state }) => (state.variables as { becomes: Becoming }).becomes,
  });
  return useCallback(
    (row: Fields) =>
      changes.reduce<Fields | undefined>((now, becomes) => {
        const to = becomes.get(String(row['id']));
        if (to === undefined) return now;
        return to === null ? undefined : now && { ...now, ...to };
      }, row),
    [changes],
  );
}
