import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { BarChart } from '../catalogue/bar-chart.js';
import { Empty, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { BulkActions } from './bulk-actions.js';
import { useAnswer, useRows, type Input, type Row } from './call.js';
import { useDefinitions, type Kind, type RecordList } from './definitions.js';
import { LOOKS } from './kinds.js';
import { MEASURED, applyOf, parametersOf, useListState, type ListState } from './list-state.js';
import { ListTools } from './list-tools.js';
import { QueryShown } from './query-shown.js';
import { RecordTable } from './record-table.js';
import { RowActions } from './row-actions.js';
import { plainText, valueAt } from './values.js';
import { inWords, labelOf, oneOf } from './words.js';
import { numberText } from '../texts/formats.js';
import { t, term } from '../texts/texts.js';

/** Columns of a list that nobody has chosen for it. */
const COLUMNS = 7;
const DULL = /^(id|metadata|privateMetadata|ancestors|updatedAt|history|lastChange)$/;

/** The columns of a list: those chosen for its kind, else the first of its fields that say something. */
function columnsOf({ row, relations, narrowing: _, ...list }: RecordList, kind: Kind | undefined, given: Input): string[] {
  const all = Object.keys(row.properties ?? {});
  const chosen = kind && LOOKS[kind.name]?.columns?.filter((name) => all.includes(name));
  const columns = chosen && chosen.length > 0 ? chosen : all.filter((name) => !DULL.test(name) && !relations.includes(name));
  // what is the same in each row says nothing
  const telling = columns.filter((name) => !Object.hasOwn(given, name));
  return (telling.length > 0 || list.isQueried ? telling : columns).slice(0, COLUMNS);
}

/** Rows whose record is a part of them: `{ member, organization }` of an organization. */
function recordIn(row: Row, kind: Kind | undefined): Row {
  // most rows are records: they are many
  if ('id' in row || !kind) return row;
  const part = row[oneOf(kind.name)];
  if (typeof part !== 'object' || part === null) return row;
  return { ...row, ...(part as Row) };
}

interface RecordListViewProps {
  list: RecordList;
  /** What the list needs: whose records. */
  given: Input;
  /** The kind of its records; undefined for rows that are no records of their own. */
  kind: Kind | undefined;
  /** Shown instead of an empty list that nothing filters. */
  empty?: ReactNode;
}

/** Any list: searched, filtered, sorted and grouped as its address says, with what can be done with its rows. */
export function RecordListView({ list, given, kind, empty }: RecordListViewProps) {
  const [state, change] = useListState();
  const isPlain = state.q === '' && state.filter === '';
  return (
    <>
      {list.isQueried && <ListTools list={list} state={state} change={change} />}
      {state.group !== '' && list.isQueried ? (
        <Groups list={list} given={given} state={state} />
      ) : (
        <Rows list={list} given={given} kind={kind} state={state} change={change} empty={isPlain ? empty : undefined} />
      )}
    </>
  );
}

interface RowsProps extends RecordListViewProps {
  state: ListState;
  change(change: Partial<ListState>): void;
}

function Rows({ list, given, kind, state, change, empty }: RowsProps) {
  const definitions = useDefinitions();
  const [ids, select] = useState<ReadonlySet<string>>(new Set());
  const columns = useMemo(() => columnsOf(list, kind, given), [list, kind, given]);
  const parameters = parametersOf(
    state,
    list,
    list.relations.filter((name) => !name.includes('.')),
  );
  const found = useRows(list, given, parameters);
  const rows = useMemo(
    () => found.data?.pages.flatMap((page) => page.rows.map((row) => recordIn(row, kind))),
    [found.data, kind],
  );
  const total = found.data?.pages[0]?.total;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const sortable = (name: string) => list.fields.some((field) => field.name === name && field.parameters.has('$orderby'));
  const chosen = rows?.filter(({ id }) => typeof id === 'string' && ids.has(id)) ?? [];
  const hasBulk = kind !== undefined && (kind.bulk.length > 0 || kind.remove !== undefined);
  // a row that is shown elsewhere leads there; below another record its parents' ids are in the address
  const addressOf = (row: Row) => {
    if (!kind || typeof row['id'] !== 'string') return undefined;
    const [parent] = kind.parents;
    const above = parent === undefined ? undefined : definitions.kindOf(parent)?.name;
    return above === undefined
      ? `/${kind.name}/${row['id']}`
      : `/${above}/${String(given[parent ?? ''])}/${kind.name}/${row['id']}`;
  };
  return (
    <>
      <QueryFailure of={[found]} />
      {!rows && !found.error && <Skeleton columns={columns} />}
      {rows?.length === 0 &&
        (empty ?? (
          <Empty title={t('records.list.nothing')}>{state.q || state.filter ? t('records.list.removeFilter') : ''}</Empty>
        ))}
      {rows && rows.length > 0 && (
        <>
          <BulkActions kind={kind} given={given} chosen={chosen} total={total} clear={() => select(new Set())} />
          <RecordTable
            label={term('operations', list.operation.id) ?? inWords(list.operation.id.replace('.list', ' '))}
            rows={rows}
            columns={columns}
            kind={kind}
            total={total}
            addressOf={addressOf}
            renderActions={(row) => <RowActions list={list} given={given} row={row} kind={kind} />}
            order={list.isQueried ? { by: state.order, canBe: sortable, change: (order) => change({ order }) } : undefined}
            selection={hasBulk ? { ids, change: select } : undefined}
            loadMore={loadMore}
          />
        </>
      )}
      {list.isQueried && <QueryShown list={list} input={{ ...given, ...parameters, $top: 100 }} />}
    </>
  );
}

/** Grey lines in the place of rows that are loading. */
function Skeleton({ columns }: { columns: readonly string[] }) {
  return (
    <div className="skeleton">
      <Loading what={t('records.loading.rows')} />
      {Array.from({ length: 6 }, (_, row) => (
        <p key={row} aria-hidden="true">
          {columns.slice(0, 4).map((name) => (
            <span key={name} />
          ))}
        </p>
      ))}
    </div>
  );
}

/** What is told of each group, in words. */
function measureText(measure: string): string {
  const [by, field] = measure.split(' ');
  if (field === undefined) return t('records.tools.number');
  return term('fields', field) === undefined
    ? labelOf(measure)
    : t(by === 'sum' ? 'records.tools.sum' : 'records.tools.average', { field: labelOf(field) });
}

const groupText = (value: unknown, field: string) =>
  term('values', `${field}.${String(value)}`) ?? term('values', String(value)) ?? plainText(value);

/** The groups of a list and a value of each, as a chart that is a table. */
function Groups({ list, given, state }: { list: RecordList; given: Input; state: ListState }) {
  const input = { ...given, ...parametersOf({ ...state, order: '' }, list, []), $apply: applyOf(state), $top: 50 };
  const groups = useAnswer<{ value: Row[] }>(list.operation, input);
  const rows = groups.data?.value;
  return (
    <>
      <QueryFailure of={[groups]} />
      {!rows && !groups.error && <Loading what={t('records.loading.groups')} />}
      {rows && (
        <section className="panel">
          <BarChart
            caption={t('records.tools.caption', { measure: measureText(state.measure), group: labelOf(state.group) })}
            of={labelOf(state.group)}
            format={(value) => numberText(value, { maximumFractionDigits: 2 })}
            bars={rows.map((row, index) => {
              const value = valueAt(row, state.group);
              return { key: String(index), label: groupText(value, state.group), value: Number(row[MEASURED] ?? 0) };
            })}
          />
        </section>
      )}
      <QueryShown list={list} input={input} />
    </>
  );
}
