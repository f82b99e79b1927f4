import type { ReactNode } from 'react';
import type { Operation } from '../reference/reference.js';
import type { Act } from './acts.js';
import { knownVersion, useCall, type Input, type Row } from './call.js';
import { useConflict } from './conflict.js';
import type { Kind } from './definitions.js';
import { useEffects } from './effects.js';
import { useOffered } from './offered.js';

/** The header that names the version to change. */
const IF_MATCH = 'If-Match';

/** Whether an act changes a record, and can say in which version. */
export const isEdit = ({ present, operation }: Act): boolean =>
  present !== undefined && operation.parameters.some(({ name }) => name === IF_MATCH);

interface Edited {
  kind: Kind;
  record: Row;
  version: string | undefined;
  /** The ids of the records above it. */
  above: Input;
}

interface UsedEditing {
  /** Reads a record anew that is a row of a list: rows have no versions. */
  read(row: Omit<Edited, 'version'>): Promise<Edited>;
  /** What an edit is besides its operation. */
  editing(operation: Operation, edited: Edited): Pick<Act, 'effect' | 'context' | 'onFailure'>;
  /** Shows what somebody else has changed meanwhile. */
  dialog: ReactNode;
}

/** An edit is shown at once, can be taken back, and overwrites nothing unseen. */
export function useEditing(): UsedEditing {
  const call = useCall();
  const { edit } = useEffects(useOffered());
  const { onFailure, dialog } = useConflict();
  const readOne = ({ get }: Kind, given: Input) => call(get, given, { versioned: true }) as Promise<Row>;
  return {
    dialog,
    async read({ kind, above, record: row }) {
      const record = await readOne(kind, { ...above, [kind.param]: row['id'] });
      return { kind, above, record, version: knownVersion(record) };
    },
    editing(operation, { kind, record, version, above }) {
      const given = { ...above, [kind.param]: record['id'] };
      return {
        effect: (input) => edit({ ...kind, patch: operation }, above, [record], changedIn(input, given)),
        ...(version !== undefined && { context: { ifMatch: version } }),
        onFailure: onFailure({ patch: operation, given, before: record, read: () => readOne(kind, given) }),
      };
    },
  };
}

/** What an input says beside what is given. */
const changedIn = (input: Input, given: Input): Row =>
  Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(given, name)));
