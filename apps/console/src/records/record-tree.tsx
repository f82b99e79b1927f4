import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { useRows } from './call.js';
import type { Kind, RecordList } from './definitions.js';
import { useLoadOthersChanges } from './live.js';
import { RowActions, useActsOfRows } from './row-actions.js';
import { Value } from './values.js';
import { titleOf } from './words.js';
import { t } from '../texts/texts.js';

/** The field that names the record above one, where records of a kind form a tree. */
export function parentField({ fields }: RecordList): string | undefined {
  return fields.find(({ name, parameters }) => /^parent(Id)?$/.test(name) && parameters.has('$filter'))?.name;
}

interface LevelProps {
  kind: Kind;
  list: RecordList;
  parent: string;
  /** The record above; null at the top. */
  above: string | null;
  /** Shown instead of an empty tree. */
  empty: ReactNode;
}

/** Records as a tree, a level at a time. */
export function RecordTree(props: Omit<LevelProps, 'above'>) {
  useLoadOthersChanges(props.list.operation.service);
  return (
    <div className="panel tree">
      <Level {...props} above={null} />
    </div>
  );
}

function Level({ kind, list, parent, above, empty }: LevelProps) {
  const $filter = `${parent} eq ${above === null ? 'null' : `'${above}'`}`;
  const found = useRows(list, {}, { $filter, $orderby: 'name' });
  const rows = found.data?.pages.flatMap((page) => page.rows);
  return (
    <>
      <QueryFailure of={[found]} />
      {!rows && !found.error && <Loading what={t('records.loading.level')} />}
      {rows?.length === 0 && (above === null ? empty : <p className="hint">{t('records.list.nothingBelow')}</p>)}
      {rows && rows.length > 0 && (
        <ul>
          {rows.map((row) => (
            <Node key={String(row['id'])} row={row} kind={kind} list={list} parent={parent} empty={empty} />
          ))}
        </ul>
      )}
      {found.hasNextPage && <Button onClick={() => void found.fetchNextPage()}>{t('ui.showMore')}</Button>}
    </>
  );
}

function Node({ row, kind, list, parent, empty }: Omit<LevelProps, 'above'> & { row: Record<string, unknown> }) {
  const [isOpen, setOpen] = useState(false);
  const [actsOf, dialog] = useActsOfRows(list, {}, kind);
  const id = String(row['id']);
  const { code, type, status, branchName } = row;
  const told = code ?? branchName;
  return (
    <li>
      <div className="node">
        <Button
          className="quiet icon-button"
          aria-expanded={isOpen}
          aria-label={t('records.list.below', { title: titleOf(row) })}
          onClick={() => setOpen(!isOpen)}
        >
          <span className={isOpen ? 'turned' : ''}>
            <Icon name="next" />
          </span>
        </Button>
        <Link to={`/${kind.name}/${id}`}>{titleOf(row)}</Link>
        {typeof told === 'string' && <code>{told}</code>}
        {(typeof type === 'string' || typeof status === 'string') && (
          <Value value={type ?? status} field={typeof type === 'string' ? 'type' : 'status'} row={row} kind={kind} />
        )}
        <RowActions row={row} actsOf={actsOf} />
      </div>
      {dialog}
      {isOpen && <Level kind={kind} list={list} parent={parent} above={id} empty={empty} />}
    </li>
  );
}
