import { rowSelectionFeature, tableFeatures, useTable, type ColumnDef, type RowSelectionState } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Link } from '@tanstack/react-router';
import { memo, useCallback, useEffect, useMemo, type KeyboardEvent, type ReactNode, type RefObject } from 'react';
import { Button } from '../ui/button.js';
import type { Row } from './call.js';
import type { Kind } from './definitions.js';
import { useFittingColumns } from './fitting-columns.js';
import { LOOKS, labelIn } from './kinds.js';
import { useRowsInTurn } from './rows-in-turn.js';
import { Value, pictureOf, valueAt } from './values.js';
import { isBlank, titleOf } from './words.js';
import { t } from '../texts/texts.js';

/** The height of a row, in CSS pixels. */
const ROW = 48;
/** Rows from the end at which the next page is loaded. */
const AHEAD = 30;

const features = tableFeatures({ rowSelectionFeature });
/** A row draws its cells by itself. */
const NO_COLUMNS: ColumnDef<typeof features, Row>[] = [];

interface RecordTableProps {
  /** What scrolls. */
  box: RefObject<HTMLDivElement | null>;
  label: string;
  rows: readonly Row[];
  columns: readonly string[];
  kind: Kind | undefined;
  /** The operation of the list. */
  list: string;
  /** How many there are; undefined where that is not known. */
  total: number | undefined;
  /** Where a row leads; undefined where it leads nowhere. */
  addressOf?: ((row: Row) => string | undefined) | undefined;
  /** What can be done with a row, at its end. */
  renderActions?: ((row: Row) => ReactNode) | undefined;
  /** Fields to sort by; undefined where the order is given. */
  order?: { by: string; canBe(field: string): boolean; change(order: string): void } | undefined;
  selection?: { ids: ReadonlySet<string>; change(ids: ReadonlySet<string>): void } | undefined;
  loadMore?: (() => void) | undefined;
}

/** Rows without an id of their own are told apart by whom they are of. */
function keyOf(row: Row, index: number): string {
  const key = row['id'] ?? row['identityId'];
  return typeof key === 'string' ? key : String(index);
}

/** Records as a table: only the rows in view are drawn, and the next page is loaded before its end is reached. */
export function RecordTable(props: RecordTableProps) {
  const { box, label, rows, kind, list, total, addressOf, renderActions, order, selection, loadMore } = props;
  const fitting = useFittingColumns();
  const columns = useMemo(() => props.columns.slice(0, fitting), [props.columns, fitting]);
  const selected = useMemo(
    (): RowSelectionState => Object.fromEntries([...(selection?.ids ?? [])].map((id) => [id, true])),
    [selection?.ids],
  );
  const table = useTable({
    features,
    data: rows,
    columns: NO_COLUMNS,
    getRowId: keyOf,
    state: { rowSelection: selected },
    enableRowSelection: selection !== undefined,
    onRowSelectionChange: (updater) => {
      const next = typeof updater === 'function' ? updater(selected) : updater;
      selection?.change(new Set(Object.keys(next).filter((id) => next[id])));
    },
  });
  const shown = table.getRowModel().rows;
  const { ids, change } = selection ?? {};
  const choose = useCallback(
    (id: string, isChosen: boolean) =>
      change?.(new Set(isChosen ? [...(ids ?? []), id] : [...(ids ?? [])].filter((one) => one !== id))),
    [ids, change],
  );
  // oxlint-disable-next-line react/incompatible-library -- what it returns changes: the React compiler leaves this component alone
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 6,
  });
  const items = virtual.getVirtualItems();
  const indexes = useMemo(() => items.map(({ index }) => index), [items]);
  const whole = useRowsInTurn(indexes);
  const last = indexes.at(-1) ?? 0;
  useEffect(() => {
    if (last >= shown.length - AHEAD) loadMore?.();
  }, [last, shown.length, loadMore]);

  const [above, below] = [items[0]?.start ?? 0, virtual.getTotalSize() - (items.at(-1)?.end ?? 0)];
  const width = columns.length + (selection ? 1 : 0) + (renderActions ? 1 : 0);
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the arrow keys go through the links in its rows
    <div className="table-box" ref={box} onKeyDown={moveByArrows}>
      <table aria-label={label} aria-rowcount={total ?? -1}>
        <thead>
          <tr>
            {selection && (
              <th className="choose">
                <input
                  type="checkbox"
                  aria-label={t('records.list.chooseAll')}
                  checked={shown.length > 0 && table.getIsAllRowsSelected()}
                  onChange={table.getToggleAllRowsSelectedHandler()}
                />
              </th>
            )}
            {columns.map((name) => (
              <th key={name} scope="col" aria-sort={sortOf(order?.by, name)} className={classOf(name)}>
                {order?.canBe(name) ? <SortButton name={name} label={labelIn(kind, name)} order={order} /> : labelIn(kind, name)}
              </th>
            ))}
            {renderActions && (
              <th className="row-actions">
                <span className="unseen">{t('records.list.actions')}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Space height={above} width={width} />}
          {items.map(({ index }) => {
            const row = shown[index];
            if (!row) return null;
            if (!whole.has(index))
              return (
                <PassingRow
                  key={row.id}
                  record={row.original}
                  index={index}
                  kind={kind}
                  width={width}
                  canBeChosen={selection !== undefined}
                />
              );
            return (
              <TableRow
                key={row.id}
                id={row.id}
                record={row.original}
                columns={columns}
                index={index}
                kind={kind}
                list={list}
                addressOf={addressOf}
                renderActions={renderActions}
                isChosen={ids?.has(row.id)}
                choose={choose}
              />
            );
          })}
          {below > 0 && <Space height={below} width={width} />}
        </tbody>
      </table>
    </div>
  );
}

interface TableRowProps extends Pick<RecordTableProps, 'columns' | 'kind' | 'list' | 'addressOf' | 'renderActions'> {
  id: string;
  record: Row;
  index: number;
  /** Undefined where rows cannot be chosen. */
  isChosen: boolean | undefined;
  choose(id: string, isChosen: boolean): void;
}

/**
 * A row, drawn again only when something of it has changed: not while others scroll by, nor when more are loaded, though that
 * rebuilds the table's own rows.
 */
const TableRow = memo(function TableRow(props: TableRowProps) {
  const { id, record, columns, index, kind, list, addressOf, renderActions, isChosen, choose } = props;
  // the first column names the record
  const [titled] = columns;
  const address = addressOf?.(record);
  const picture = kind && LOOKS[kind.name]?.picture;
  return (
    <tr aria-rowindex={index + 2} className={isChosen ? 'chosen-row' : undefined}>
      {isChosen !== undefined && (
        <td className="choose">
          <input
            type="checkbox"
            aria-label={t('records.list.choose', { title: titleOf(record) })}
            checked={isChosen}
            onChange={(event) => choose(id, event.target.checked)}
          />
        </td>
      )}
      {columns.map((name) => {
        const value = <Value value={valueAt(record, name)} field={name} row={record} kind={kind} list={list} />;
        if (name !== titled || address === undefined)
          return (
            <td key={name} data-label={labelIn(kind, name)} className={classOf(name)}>
              {value}
            </td>
          );
        const image = pictureOf(record, picture);
        return (
          <th key={name} scope="row">
            <Link to={address} className="row-link">
              {picture !== undefined &&
                (image === undefined ? <span className="thumb" /> : <img className="thumb" src={image} alt="" loading="lazy" />)}
              <span>{isBlank(valueAt(record, name)) ? titleOf(record) : value}</span>
            </Link>
          </th>
        );
      })}
      {renderActions && <td className="row-actions">{renderActions(record)}</td>}
    </tr>
  );
});

interface PassingRowProps extends Pick<TableRowProps, 'record' | 'index' | 'kind'> {
  width: number;
  canBeChosen: boolean;
}

/** A row while many come into view: its name, where the whole row will have it. */
function PassingRow({ record, index, kind, width, canBeChosen }: PassingRowProps) {
  const isPictured = kind && LOOKS[kind.name]?.picture !== undefined;
  return (
    <tr aria-rowindex={index + 2}>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- an empty cell: the checkbox comes with the whole row */}
      {canBeChosen && <td className="choose" />}
      <th scope="row" colSpan={canBeChosen ? width - 1 : width}>
        <span className="row-name">
          {isPictured && <span className="thumb" />}
          <span>{titleOf(record)}</span>
        </span>
      </th>
    </tr>
  );
}

/** Stands for the rows that are not drawn. */
function Space({ height, width }: { height: number; width: number }) {
  return (
    <tr aria-hidden="true" className="space">
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- it is no control, and nobody hears of it */}
      <td colSpan={width} style={{ height }} />
    </tr>
  );
}

const AMOUNT = /(total|subtotal|tax|price|amount|count|value|Seq|attempts)$/i;
/** The class of a column by its name. */
const classOf = (name: string) => (AMOUNT.test(name) ? 'column-number' : 'column-text');

function sortOf(order: string | undefined, name: string): 'ascending' | 'descending' | undefined {
  if (order === name) return 'ascending';
  return order === `${name} desc` ? 'descending' : undefined;
}

interface SortProps {
  name: string;
  label: string;
  order: NonNullable<RecordTableProps['order']>;
}

function SortButton({ name, label, order: { by, change } }: SortProps) {
  const sort = sortOf(by, name);
  const next = { ascending: `${name} desc`, descending: '', none: name }[sort ?? 'none'];
  return (
    <Button className="sort" onClick={() => change(next)}>
      {label} <span aria-hidden="true">{{ ascending: '↑', descending: '↓', none: '' }[sort ?? 'none']}</span>
    </Button>
  );
}

/** The arrow keys lead from row to row. */
function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const here = (event.target as HTMLElement).closest('.row-link');
  if (step === undefined || !here) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('.row-link')];
  const next = links[links.indexOf(here as HTMLElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
