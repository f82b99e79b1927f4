import { useCallback, useEffect, useRef } from 'react';
import { Menu, type MenuEntry } from '../ui/menu.js';
import { useAct } from './acts.js';
import type { Input, Row } from './call.js';
import type { Kind, RecordList } from './definitions.js';
import { useRecordActs, useRowActs } from './offered.js';
import { titleOf } from './words.js';
import { t } from '../texts/texts.js';

/**
 * What can be done with the rows of a list: asked for once for all of them, for each row costs time while one scrolls. It is always
 * the same function, since another one would draw all rows again.
 */
export function useActsOfRows(list: RecordList, given: Input, kind: Kind | undefined): (row: Row) => MenuEntry[] {
  const act = useAct();
  const recordActs = useRecordActs();
  const rowActs = useRowActs();
  const above = kind ? Object.fromEntries(kind.parents.map((name) => [name, given[name]])) : {};
  const actsOf = (row: Row) =>
    (kind ? recordActs(kind, row, above) : rowActs(list, row, given)).map((one) => ({ ...one, run: () => act(one) }));
  const latest = useRef(actsOf);
  useEffect(() => void (latest.current = actsOf));
  return useCallback((row) => latest.current(row), []);
}

interface RowActionsProps {
  row: Row;
  actsOf(row: Row): MenuEntry[];
}

/** What can be done with a row, as a menu at its end. */
export function RowActions({ row, actsOf }: RowActionsProps) {
  return <Menu label={t('records.list.actionsFor', { title: titleOf(row) })} entries={() => actsOf(row)} />;
}
