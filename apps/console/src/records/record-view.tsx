import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { queryKey } from '@tandem/client';
import type { ReactNode } from 'react';
import { LinkProviders } from '../account/link-providers.js';
import { useMe } from '../session/me.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Menu } from '../ui/menu.js';
import { Empty, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { textOf, useAct, type Act } from './acts.js';
import { knownVersion, useCall, type Input, type Row } from './call.js';
import { ChangeRequests } from './change-requests.js';
import { useConflict } from './conflict.js';
import { useDefinitions, type Definitions, type Kind, type RecordList } from './definitions.js';
import { useEffects } from './effects.js';
import { tabsOf, type Tab } from './tabs.js';
import { EXTRAS } from './extras.js';
import { LOOKS, isOffered, labelIn } from './kinds.js';
import { useListActs, useOffered, useRecordActs } from './offered.js';
import { RecordListView } from './record-list.js';
import { useUnderWay } from './under-way.js';
import { Value, pictureOf } from './values.js';
import { kindText, oneText, titleOf } from './words.js';
import { put, t } from '../texts/texts.js';

/** What a heading or the foot shows already. */
const SHOWN_APART = /^(id|createdAt|updatedAt|history)$/;

interface RecordViewProps {
  kind: Kind;
  id: string;
  /** The ids of the records above it. */
  above?: Input;
}

/** A record: what it is, what can be done with it, and the lists that belong to it. */
export function RecordView({ kind, id, above = {} }: RecordViewProps) {
  const definitions = useDefinitions();
  const { data: me } = useMe();
  const call = useCall();
  const act = useAct();
  const go = useNavigate();
  const isOn = useOffered();
  const recordActs = useRecordActs();
  const { edit: editing } = useEffects(isOn);
  const underWay = useUnderWay();
  const { tab = '' } = useSearch({ strict: false }) as { tab?: string };
  const given = { ...above, [kind.param]: id };
  const relations = relationsOf(kind);
  const read = useQuery({
    queryKey: queryKey(kind.get.id, { ...given, versioned: true }),
    queryFn: async () => {
      const record = (await call(kind.get, { ...given, ...relations }, { versioned: true })) as Row;
      return { record, version: knownVersion(record) };
    },
  });
  const { version } = read.data ?? {};
  const record = read.data && (underWay(read.data.record) ?? read.data.record);
  useTitle(record ? titleOf(record) : oneText(kind.name));
  const conflict = useConflict();
  if (!record)
    return (
      <>
        <QueryFailure of={[read]} />
        {!read.error && <Loading what={oneText(kind.name)} />}
      </>
    );

  const tabs = tabsOf(kind, id, definitions).filter(
    ({ list }) => isOffered(list.operation.who, me?.isAdmin === true) && isOn(list.operation, given),
  );
  const shown = tabs.find(({ name }) => name === tab);
  const acts = recordActs(kind, record, above).map((one): Act => {
    const isRemoval = one.operation === kind.remove;
    return isRemoval ? { ...one, onDone: () => void go({ to: listAddress(kind, above, definitions) }) } : one;
  });
  const { patch } = kind;
  const edit = (): void => {
    if (!patch) return;
    act({
      operation: patch,
      given,
      text: t('ui.save'),
      title: titleOf(record),
      present: record,
      effect: (input) => editing(kind, above, [record], changedIn(input, given)),
      ...(version !== undefined && { context: { ifMatch: version } }),
      onFailure: conflict.onFailure({
        patch,
        given,
        before: record,
        read: () => call(kind.get, given, { versioned: true }) as Promise<Row>,
      }),
    });
  };
  const Extra = EXTRAS[kind.name];
  const picture = pictureOf(record, LOOKS[kind.name]?.picture);
  return (
    <article className="record">
      <header className="view-head">
        <Link
          to={listAddress(kind, above, definitions)}
          className="back-link"
          aria-label={t('records.view.all', { kind: kindText(kind.name).toLowerCase() })}
        >
          <Icon name="back" />
        </Link>
        {picture !== undefined && <img className="picture-small" src={picture} alt="" />}
        <h1>{kind.name === 'orders' ? t('records.order.title', { number: id.slice(-6) }) : titleOf(record)}</h1>
        <State of={record} />
        <span className="head-actions">
          {patch && isOn(patch, given) && (
            <Button onClick={edit}>
              <Icon name="edit" /> {t('ui.edit')}
            </Button>
          )}
          <Menu label={t('records.view.more')} entries={() => acts.map((one) => ({ ...one, run: () => act(one) }))} />
        </span>
      </header>
      {conflict.dialog}
      {tabs.length > 0 && (
        <nav className="tabs" aria-label={t('records.view.parts')}>
          <TabLink name="" text={t('records.view.details')} isHere={!shown} />
          {tabs.map(({ name }) => (
            <TabLink key={name} name={name} text={kindText(name)} isHere={shown?.name === name} />
          ))}
        </nav>
      )}
      {shown ? (
        <>
          {shown.list.operation.id === 'organizations.listChangeRequests' && (
            <ChangeRequests list={shown.list} given={shown.input} record={record} />
          )}
          <Part key={shown.name} tab={shown} given={given}>
            {shown.list.operation.id === 'auth.listProviders' && id === me?.id && <LinkProviders />}
          </Part>
        </>
      ) : (
        <>
          {Extra && <Extra kind={kind} record={record} given={given} />}
          <Details record={record} kind={kind} />
        </>
      )}
    </article>
  );
}

/** What an input says beside what is given. */
const changedIn = (input: Input, given: Input): Row =>
  Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(given, name)));

/** A list whose records are of a kind, and with what its empty state and its buttons come. */
export function Part({ tab: { list, input, name }, given, children }: { tab: Tab; given: Input; children?: ReactNode }) {
  const { kinds } = useDefinitions();
  const act = useAct();
  const listActs = useListActs();
  const kind = kinds.find(
    ({ schema, parents }) => schema !== undefined && schema === list.schema && parents.every((one) => one in given),
  );
  const acts = [...listActs(list, given), ...createFor(kind, list, given)];
  const isOn = useOffered();
  const offered = acts.filter(({ operation }) => isOn(operation, given));
  return (
    <>
      <div className="part-actions">
        {children}
        {offered.map((one) => (
          <Button key={one.operation.id} onClick={() => act(one)}>
            <Icon name="plus" /> {one.text}
          </Button>
        ))}
      </div>
      <RecordListView
        list={list}
        given={input}
        kind={kind}
        empty={<Empty title={t('records.list.noneYet', { kind: kindText(name).toLowerCase() })} />}
      />
    </>
  );
}

/** What makes a record of the list's kind, where that is not at the list's own address. */
function createFor(kind: Kind | undefined, list: RecordList, given: Input): Act[] {
  if (!kind) return [];
  const { create, bulk } = kind;
  const isElsewhere = create && create.path !== list.operation.path;
  const many = bulk.filter(({ id }) => id.endsWith('createMany') && kind.parents.length > 0);
  return [
    ...(isElsewhere ? [{ operation: create, given, text: t('records.act.new', { one: oneText(kind.name) }) }] : []),
    ...many.map((operation) => ({ operation, given, text: textOf(operation) })),
  ];
}

function TabLink({ name, text, isHere }: { name: string; text: string; isHere: boolean }) {
  return (
    <Link
      to="."
      search={name === '' ? {} : { tab: name }}
      activeOptions={{ exact: true }}
      aria-current={isHere ? 'page' : undefined}
    >
      {text}
    </Link>
  );
}

function listAddress(kind: Kind, above: Input, { kindOf }: Definitions): string {
  const [parent] = kind.parents;
  const owner = parent === undefined ? undefined : kindOf(parent);
  return owner && parent !== undefined ? `/${owner.name}/${String(above[parent])}?tab=${kind.name}` : `/${kind.name}`;
}

/** What a read of one can show beside it: the relations of its list. */
function relationsOf({ list, get }: Kind): Input {
  const takes = get.parameters.some(({ name }) => name === '$expand');
  return takes && list && list.relations.length > 0 ? { $expand: list.relations.join(',') } : {};
}

function State({ of }: { of: Row }) {
  const { status, locked, deactivatedAt, disabledAt } = of;
  return (
    <>
      {typeof status === 'string' && <Value value={status} field="status" row={of} kind={undefined} />}
      {locked === true && <span className="tag tag-bad">{t('records.view.locked')}</span>}
      {typeof deactivatedAt === 'string' && <span className="tag tag-bad">{t('records.view.deactivated')}</span>}
      {typeof disabledAt === 'string' && <span className="tag tag-bad">{t('records.view.disabled')}</span>}
    </>
  );
}

function Details({ record, kind }: { record: Row; kind: Kind }) {
  const relations = new Set(kind.list?.relations);
  const facts = Object.entries(record).filter(([name]) => !SHOWN_APART.test(name) && !relations.has(name));
  const { id, createdAt, updatedAt } = record;
  return (
    <>
      <dl className="details">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{labelIn(kind, name)}</dt>
            <dd>
              <Value value={value} field={name} row={record} kind={kind} isLong />
            </dd>
          </div>
        ))}
      </dl>
      <p className="hint">
        {typeof createdAt === 'string' && <>{t.rich('records.view.created', { time: put(<Time at={createdAt} />) })}</>}
        {typeof updatedAt === 'string' && <> · {t.rich('records.view.changed', { time: put(<Time at={updatedAt} />) })}</>} ·{' '}
        <code>{String(id)}</code>
      </p>
    </>
  );
}
