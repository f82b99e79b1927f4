import { queryKey } from '@tandem/client';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useRef, useState, type ReactNode } from 'react';
import { BarChart } from '../catalogue/bar-chart.js';
import { Button } from '../ui/button.js';
import { Empty, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { BulkActions } from './bulk-actions.js';
import { rowsInputOf, rowsKeyOf, useAnswer, useRows, type Input, type Row } from './call.js';
import { useDefinitions, type Kind, type RecordList } from './definitions.js';
import { LOOKS } from './kinds.js';
import { useLoadOthersChanges, useOthersChanges } from './live.js';
import { MEASURED, applyOf, currencyOf, parametersOf, useListState, type ListState } from './list-state.js';
import { ListTools } from './list-tools.js';
import { Peek, PeekButton, usePeek } from './peek.js';
import { QueryShown } from './query-shown.js';
import { RecordGrid } from './record-grid.js';
import { RecordTable } from './record-table.js';
import { RowActions, useActsOfRows } from './row-actions.js';
import { plainText, valueAt } from './values.js';
import { inWords, labelOf, oneOf, valueTerm } from './words.js';
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
  const said = telling.length > 0 || list.isQueried ? telling : columns;
  // when it was is worth a column
  const isCut = said.indexOf('createdAt') >= COLUMNS;
  return isCut ? [...said.slice(0, COLUMNS - 1), 'createdAt'] : said.slice(0, COLUMNS);
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
  /** Whether its records are shown as cards with their pictures. */
  isGrid?: boolean;
}

/** Any list: searched, filtered, sorted and grouped as its address says, with what can be done with its rows. */
export function RecordListView({ list, given, kind, empty, isGrid = false }: RecordListViewProps) {
  const [state, change] = useListState();
  const isPlain = state.q === '' && state.filter === '';
  return (
    <>
      {list.isQueried && <ListTools list={list} state={state} change={change} />}
      {state.group !== '' && list.isQueried ? (
        <Groups list={list} given={given} state={state} empty={isPlain ? empty : undefined} />
      ) : (
        <Rows
          list={list}
          given={given}
          kind={kind}
          state={state}
          change={change}
          empty={isPlain ? empty : undefined}
          isGrid={isGrid}
        />
      )}
    </>
  );
}

interface RowsProps extends RecordListViewProps {
  state: ListState;
  change(change: Partial<ListState>): void;
}

function Rows({ list, given, kind, state, change, empty, isGrid = false }: RowsProps) {
  const definitions = useDefinitions();
  const [ids, select] = useState<ReadonlySet<string>>(new Set());
  const columns = useMemo(() => columnsOf(list, kind, given), [list, kind, given]);
  const relations = list.relations.filter((name) => !name.includes('.'));
  const parameters = parametersOf(state, { list, given, relations });
  const found = useRows(list, given, parameters);
  const rows = useMemo(
    () => found.data?.pages.flatMap((page) => page.rows.map((row) => recordIn(row, kind))),
    [found.data, kind],
  );
  const total = found.data?.pages[0]?.total;
  const box = useRef<HTMLDivElement>(null);
  const queries = useQueryClient();
  const [changes, setChanges] = useState(0);
  function showChanges(): void {
    setChanges(0);
    box.current?.scrollTo({ top: 0 });
    // only the first rows: what follows is loaded as one goes there
    queries.setQueryData<typeof found.data>(
      rowsKeyOf(list.operation, rowsInputOf(list.isQueried, given, parameters)),
      (data) => data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
    );
    void queries.invalidateQueries({ queryKey: queryKey(list.operation.service) });
  }
  useOthersChanges(list.operation.service, (more) => {
    // where one reads further down nothing may move
    if ((box.current?.scrollTop ?? 0) === 0 && (found.data?.pages.length ?? 0) < 2) showChanges();
    else setChanges(changes + more);
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const sortable = (name: string) => list.fields.some((field) => field.name === name && field.parameters.has('$orderby'));
  const chosen = rows?.filter(({ id }) => typeof id === 'string' && ids.has(id)) ?? [];
  const hasBulk = kind !== undefined && (kind.bulk.length > 0 || kind.remove !== undefined);
  // a row that is shown elsewhere leads there; below another record its parents' ids are in the address
  const addressOf = useCallback(
    (row: Row) => {
      if (!kind || typeof row['id'] !== 'string') return undefined;
      const [parent] = kind.parents;
      const above = parent === undefined ? undefined : definitions.kindOf(parent)?.name;
      return above === undefined
        ? `/${kind.name}/${row['id']}`
        : `/${above}/${String(given[parent ?? ''])}/${kind.name}/${row['id']}`;
    },
    [kind, definitions, given],
  );
  const shared = {
    label: term('operations', list.operation.id) ?? inWords(list.operation.id.replace('.list', ' ')),
    rows: rows ?? [],
    columns,
  };
  const [peek, show] = usePeek();
  const [actsOf, dialog] = useActsOfRows(list, given, kind);
  const renderActions = useCallback(
    (row: Row) => (
      <>
        {addressOf(row) !== undefined && <PeekButton row={row} isOpen={peek === row['id']} show={show} />}
        <RowActions row={row} actsOf={actsOf} />
      </>
    ),
    [addressOf, peek, show, actsOf],
  );
  return (
    <>
      <QueryFailure of={[found]} />
      {!rows && !found.error && <Loading what={t('records.loading.rows')} lines={6} parts={4} />}
      {rows?.length === 0 && (empty ?? <Nothing state={state} />)}
      {rows && rows.length > 0 && (
        <>
          <BulkActions kind={kind} given={given} chosen={chosen} total={total} clear={() => select(new Set())} />
          {changes > 0 && (
            <Button className="changes" onClick={showChanges}>
              {t('records.list.changes', { changes })}
            </Button>
          )}
          {isGrid && kind ? (
            <RecordGrid {...shared} kind={kind} addressOf={addressOf} renderActions={renderActions} loadMore={loadMore} />
          ) : (
            <RecordTable
              {...shared}
              list={list.operation.id}
              box={box}
              kind={kind}
              total={total}
              addressOf={addressOf}
              renderActions={renderActions}
              order={list.isQueried ? { by: state.order, canBe: sortable, change: (order) => change({ order }) } : undefined}
              selection={hasBulk ? { ids, change: select } : undefined}
              loadMore={loadMore}
            />
          )}
        </>
      )}
      {list.isQueried && <QueryShown list={list} input={{ ...given, ...parameters, $top: 100 }} />}
      {dialog}
      {kind && peek !== '' && (
        <Peek
          kind={kind}
          id={peek}
          above={Object.fromEntries(kind.parents.map((name) => [name, given[name]]))}
          address={addressOf({ id: peek })}
          onClose={() => show('')}
        />
      )}
    </>
  );
}

function Nothing({ state: { q, filter } }: { state: ListState }) {
  return <Empty title={t('records.list.nothing')}>{q || filter ? t('records.list.removeFilter') : ''}</Empty>;
}

/** What is told of each group, in words. */
function measureText(measure: string): string {
  const [by, field] = measure.split(' ');
  if (field === undefined) return t('records.tools.number');
  return term('fields', field) === undefined
    ? labelOf(measure)
    : t(by === 'sum' ? 'records.tools.sum' : 'records.tools.average', { field: labelOf(field) });
}

function captionOf({ measure, group }: ListState, currency: string): string {
  const said = { measure: measureText(measure), group: labelOf(group) };
  return currency === '' ? t('records.tools.caption', said) : t('records.tools.captionIn', { ...said, currency });
}

const groupText = (value: unknown, field: string, list: string) => valueTerm(String(value), field, list) ?? plainText(value);

/** The groups of each chart: one for each currency, since sums over several say nothing. */
function chartsOf(rows: readonly Row[], currency: string | undefined): { of: string; groups: readonly Row[] }[] {
  if (currency === undefined) return rows.length === 0 ? [] : [{ of: '', groups: rows }];
  return rows.flatMap((row) => {
    const of = valueAt(row, currency);
    return typeof of === 'string' ? [{ of, groups: row['top'] as Row[] }] : [];
  });
}

/** The groups of a list and a value of each, as charts that are tables. */
function Groups({ list, given, state, empty }: Pick<RecordListViewProps, 'list' | 'given' | 'empty'> & { state: ListState }) {
  const currency = currencyOf(state, list.fields);
  const input = {
    ...given,
    ...parametersOf({ ...state, order: '' }, { list, given, relations: [] }),
    $apply: applyOf(state, currency),
    $top: 50,
  };
  const answer = useAnswer<{ value: Row[] }>(list.operation, input);
  useLoadOthersChanges(list.operation.service);
  const charts = answer.data && chartsOf(answer.data.value, currency);
  return (
    <>
      <QueryFailure of={[answer]} />
      {!charts && !answer.error && <Loading what={t('records.loading.groups')} />}
      {charts?.length === 0 && (empty ?? <Nothing state={state} />)}
      {charts && charts.length > 0 && (
        <section className="panel">
          {charts.map(({ of, groups }) => (
            <BarChart
              key={of}
              caption={captionOf(state, of)}
              of={labelOf(state.group)}
              format={(value) => numberText(value, { maximumFractionDigits: 2 })}
              bars={groups.map((row, index) => {
                const value = valueAt(row, state.group);
                return {
                  key: String(index),
                  label: groupText(value, state.group, list.operation.id),
                  value: Number(row[MEASURED] ?? 0),
                };
              })}
            />
          ))}
        </section>
      )}
      <QueryShown list={list} input={input} />
    </>
  );
}
