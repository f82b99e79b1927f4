import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMe } from '../session/me.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Empty } from '../ui/notices.js';
import { useTitle } from '../ui/title.js';
import { textOf, useAct } from './acts.js';
import { useDefinitions, type Kind } from './definitions.js';
import { LOOKS, placeOf } from './kinds.js';
import { useCreateAct, useOffered } from './offered.js';
import { RecordListView } from './record-list.js';
import { RecordTree, parentField } from './record-tree.js';
import { RecordView } from './record-view.js';
import { kindText, oneText } from './words.js';
import { t } from '../texts/texts.js';

const None = () => <Empty title={t('ui.noSuchPage')}>{t('ui.chooseAnother')}</Empty>;

/** The kind that an address names, with the records above it: `/products/<id>/variants/<id>`. */
export function RecordPage() {
  const { kind: name, id, below, belowId } = useParams({ strict: false }) as Record<string, string | undefined>;
  const { kinds } = useDefinitions();
  const kind = kinds.find((one) => one.name === name && one.parents.length === 0);
  const inner = kinds.find((one) => one.name === below && one.parents[0] === kind?.param);
  if (!kind || id === undefined) return <None />;
  if (below === undefined) return <RecordView key={id} kind={kind} id={id} />;
  return inner && belowId !== undefined ? (
    <RecordView key={belowId} kind={inner} id={belowId} above={{ [kind.param]: id }} />
  ) : (
    <None />
  );
}

/** All records of a kind that one may read, at `/products`. */
export function RecordsPage() {
  const { kind: name } = useParams({ strict: false }) as { kind?: string };
  const { kinds } = useDefinitions();
  const kind = kinds.find((one) => one.name === name && one.parents.length === 0);
  return kind ? <Records key={kind.name} kind={kind} /> : <None />;
}

function Records({ kind }: { kind: Kind }) {
  const definitions = useDefinitions();
  const { data: me } = useMe();
  const act = useAct();
  const isOn = useOffered();
  const createAct = useCreateAct();
  const go = useNavigate();
  const { view = '' } = useSearch({ strict: false }) as { view?: string };
  const title = kindText(kind.name);
  useTitle(title);
  const place = me && placeOf(kind, definitions, me);
  if (!place) return <None />;
  const parent = Object.keys(place.input).length === 0 ? parentField(place.list) : undefined;
  const isTree = view === 'tree';
  const views = [
    ['', 'records.list.table'] as const,
    ...(parent === undefined ? [] : [['tree', 'records.list.tree'] as const]),
    ...(LOOKS[kind.name]?.picture === undefined ? [] : [['grid', 'records.list.grid'] as const]),
  ];
  const show = (wanted: string) =>
    void go({ to: '.', search: (present: object) => ({ ...present, view: wanted }), replace: true });
  const many = kind.bulk.find(({ id }) => id.endsWith('createMany'));
  const create = createAct(kind);
  const empty = (
    <Empty title={t('records.list.noneYet', { kind: title.toLowerCase() })}>
      {create ? t('records.list.first', { one: oneText(kind.name) }) : t('records.list.appear')}
    </Empty>
  );
  const button = create && (
    <Button className="primary" onClick={() => act(create)}>
      <Icon name="plus" /> {create.text}
    </Button>
  );
  return (
    <>
      <header className="view-head">
        <h1>{title}</h1>
        <span className="head-actions">
          {views.length > 1 && (
            <fieldset className="group tabs-small" aria-label={t('records.list.view')}>
              {views.map(([name, text]) => (
                <Button key={name} className="quiet" aria-pressed={view === name} onClick={() => show(name)}>
                  {t(text)}
                </Button>
              ))}
            </fieldset>
          )}
          {many && isOn(many, {}) && (
            <Button onClick={() => act({ operation: many, given: {}, text: textOf(many) })}>
              {t('records.list.createMany')}
            </Button>
          )}
          {button}
        </span>
      </header>
      {isTree && parent !== undefined ? (
        <RecordTree kind={kind} list={place.list} parent={parent} empty={empty} />
      ) : (
        <RecordListView list={place.list} given={place.input} kind={kind} isGrid={view === 'grid'} empty={empty} />
      )}
    </>
  );
}
