import { useCallback, useEffect, useRef, type ReactNode } from 'react';
import { Menu, type MenuEntry } from '../ui/menu.js';
import { useAct, type Act } from './acts.js';
import type { Input, Row } from './call.js';
import type { Kind, RecordList } from './definitions.js';
import { isEdit, useEditing } from './editing.js';
import { useRecordActs, useRowActs } from './offered.js';
import { titleOf } from './words.js';
import { t } from '../texts/texts.js';

/**
 * What can be done with the rows of a list: asked for once for all of them, for each row costs time while one scrolls. It is always
 * the same function, since another one would draw all rows again. With it comes a dialog, where somebody else was faster.
 */
export function useActsOfRows(list: RecordList, given: Input, kind: Kind | undefined): [(row: Row) => MenuEntry[], ReactNode] {
  const act = useAct();
  const { read, editing, dialog } = useEditing();
  const recordActs = useRecordActs();
  const rowActs = useRowActs();
  const above = kind ? Object.fromEntries(kind.parents.map((name) => [name, given[name]])) : {};
  async function readFor(of: Kind, row: Row, one: Act): Promise<Act> {
    const edited = await read({ kind: of, record: row, above });
    return { ...one, present: edited.record, ...editing(one.operation, edited) };
  }
  const actsOf = (row: Row) =>
    (kind ? recordActs(kind, row, above) : rowActs(list, row, given)).map((one) => ({
      ...one,
      run: () => act(kind && isEdit(one) ? readFor(kind, row, one) : one),
    }));
  const latest = useRef(actsOf);
  useEffect(() => void (latest.current = actsOf));
  return [useCallback((row) => latest.current(row), []), dialog];
}

interface RowActionsProps {
  row: Row;
  actsOf(row: Row): MenuEntry[];
}

/** What can be done with a row, as a menu at its end. */
export function RowActions({ row, actsOf }: RowActionsProps) {
  return <Menu label={t('records.list.actionsFor', { title: titleOf(row) })} entries={() => actsOf(row)} />;
}
