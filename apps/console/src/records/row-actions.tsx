import { Menu } from '../ui/menu.js';
import { useAct } from './acts.js';
import type { Input, Row } from './call.js';
import type { Kind, RecordList } from './definitions.js';
import { useRecordActs, useRowActs } from './offered.js';
import { titleOf } from './words.js';
import { t } from '../texts/texts.js';

interface RowActionsProps {
  list: RecordList;
  given: Input;
  row: Row;
  kind: Kind | undefined;
}

/** What can be done with a row, as a menu at its end. */
export function RowActions({ list, given, row, kind }: RowActionsProps) {
  const act = useAct();
  const recordActs = useRecordActs();
  const rowActs = useRowActs();
  const above = kind ? Object.fromEntries(kind.parents.map((name) => [name, given[name]])) : {};
  return (
    <Menu
      label={t('records.list.actionsFor', { title: titleOf(row) })}
      entries={() =>
        (kind ? recordActs(kind, row, above) : rowActs(list, row, given)).map((one) => ({ ...one, run: () => act(one) }))
      }
    />
  );
}
