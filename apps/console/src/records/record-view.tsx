import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { LinkProviders } from '../account/link-providers.js';
import { useMe } from '../session/me.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Empty, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { useTitle } from '../ui/title.js';
import { textOf, useAct, type Act } from './acts.js';
import type { Input } from './call.js';
import { ChangeRequests } from './change-requests.js';
import { useDefinitions, type Definitions, type Kind, type RecordList } from './definitions.js';
import { tabsOf, type Tab } from './tabs.js';
import { LOOKS, isOffered } from './kinds.js';
import { useListActs, useOffered } from './offered.js';
import { RecordListView } from './record-list.js';
import { Details, RecordActions, State, headingOf, useRecord } from './record-parts.js';
import { pictureOf } from './values.js';
import { kindText, oneText, titleOf } from './words.js';
import { t } from '../texts/texts.js';

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
  const go = useNavigate();
  const isOn = useOffered();
  const { tab = '' } = useSearch({ strict: false }) as { tab?: string };
  const given = { ...above, [kind.param]: id };
  const { read, record, version } = useRecord(kind, id, above);
  useTitle(record ? titleOf(record) : oneText(kind.name));
  if (!record)
    return (
      <>
        <h1 className="unseen">{oneText(kind.name)}</h1>
        <QueryFailure of={[read]} />
        {!read.error && <Loading what={oneText(kind.name)} />}
      </>
    );

  const tabs = tabsOf(kind, id, definitions).filter(
    ({ list }) => isOffered(list.operation.who, me?.isAdmin === true) && isOn(list.operation, given),
  );
  const shown = tabs.find(({ name }) => name === tab);
  const picture = pictureOf(record, LOOKS[kind.name]?.picture);
  return (
    <article className="record">
      <QueryFailure of={[read]} />
      <header className="view-head">
        <Link
          to={listAddress(kind, above, definitions)}
          className="back-link"
          aria-label={t('records.view.all', { kind: kindText(kind.name).toLowerCase() })}
        >
          <Icon name="back" />
        </Link>
        {picture !== undefined && <img className="picture-small" src={picture} alt="" />}
        <h1>{headingOf(kind, record)}</h1>
        <State of={record} />
        <span className="head-actions">
          <RecordActions
            {...{ kind, record, version, above }}
            onGone={() => void go({ to: listAddress(kind, above, definitions) })}
          />
        </span>
      </header>
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
        <Details kind={kind} record={record} above={above} />
      )}
    </article>
  );
}

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
  const [first] = offered;
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
        empty={
          <Empty title={t('records.list.noneYet', { kind: kindText(name).toLowerCase() })}>
            {first ? t('records.list.begin', { action: first.text }) : t('records.list.appear')}
          </Empty>
        }
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
