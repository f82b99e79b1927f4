import { queryKey } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Menu } from '../ui/menu.js';
import { Time } from '../ui/time.js';
import { useAct, type Act } from './acts.js';
import { knownVersion, useCall, type Input, type Row } from './call.js';
import type { Kind } from './definitions.js';
import { isEdit, useEditing } from './editing.js';
import { EXTRAS } from './extras.js';
import { labelIn } from './kinds.js';
import { useOffered, useRecordActs } from './offered.js';
import { useUnderWay } from './under-way.js';
import { Value } from './values.js';
import { titleOf } from './words.js';
import { put, t } from '../texts/texts.js';

/** What a heading or the foot shows already. */
const SHOWN_APART = /^(id|createdAt|updatedAt|history)$/;

/** A record with its version, as changes under way will leave it. */
export function useRecord(kind: Kind, id: string, above: Input) {
  const call = useCall();
  const underWay = useUnderWay();
  const given = { ...above, [kind.param]: id };
  const relations = relationsOf(kind);
  const read = useQuery({
    queryKey: queryKey(kind.get.id, { ...given, versioned: true }),
    queryFn: async () => {
      const record = (await call(kind.get, { ...given, ...relations }, { versioned: true })) as Row;
      return { record, version: knownVersion(record) };
    },
  });
  const { record, version } = read.data ?? {};
  return { read, version, record: record && (underWay(record) ?? record) };
}

interface RecordActionsProps {
  kind: Kind;
  record: Row;
  version: string | undefined;
  /** The ids of the records above it. */
  above: Input;
  /** Called once it is removed. */
  onGone(): void;
}

/** What can be done with a record: a button to edit it, and a menu with the rest. */
export function RecordActions({ kind, record, version, above, onGone }: RecordActionsProps) {
  const act = useAct();
  const isOn = useOffered();
  const recordActs = useRecordActs();
  const { editing, dialog } = useEditing();
  const given = { ...above, [kind.param]: record['id'] };
  const { patch, remove } = kind;
  const edited = { kind, record, version, above };
  const acts = recordActs(kind, record, above).map((one): Act => ({
    ...one,
    ...(one.operation === remove && { onDone: onGone }),
    ...(isEdit(one) && editing(one.operation, edited)),
  }));
  const start = (): void => {
    if (!patch) return;
    act({ operation: patch, given, text: t('ui.save'), title: titleOf(record), present: record, ...editing(patch, edited) });
  };
  return (
    <>
      {patch && isOn(patch, given) && (
        <Button onClick={start}>
          <Icon name="edit" /> {t('ui.edit')}
        </Button>
      )}
      <Menu label={t('records.view.more')} entries={() => acts.map((one) => ({ ...one, run: () => act(one) }))} />
      {dialog}
    </>
  );
}

/** What a read of one can show beside it: the relations of its list. */
function relationsOf({ list, get }: Kind): Input {
  const takes = get.parameters.some(({ name }) => name === '$expand');
  return takes && list && list.relations.length > 0 ? { $expand: list.relations.join(',') } : {};
}

/** What is to be known of a record before all else. */
export function State({ of }: { of: Row }) {
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

/** A record's id in words, or its title. */
export const headingOf = ({ name }: Kind, record: Row): string =>
  name === 'orders' ? t('records.order.title', { number: String(record['id']).slice(-6) }) : titleOf(record);

/** All that a record says, below what a person wants first of its kind. */
export function Details({ record, kind, above }: { record: Row; kind: Kind; above: Input }) {
  const Extra = EXTRAS[kind.name];
  const relations = new Set(kind.list?.relations);
  const facts = Object.entries(record).filter(([name]) => !SHOWN_APART.test(name) && !relations.has(name));
  const { id, createdAt, updatedAt } = record;
  return (
    <>
      {Extra && <Extra kind={kind} record={record} given={{ ...above, [kind.param]: record['id'] }} />}
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
