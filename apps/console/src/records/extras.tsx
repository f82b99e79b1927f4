import type { ReactNode } from 'react';
import { useIsMutating, useMutation } from '@tanstack/react-query';
import { uploadFile } from '@tandem/client';
import { useState } from 'react';
import type { Operation } from '../reference/reference.js';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Failure } from '../ui/notices.js';
import { Time } from '../ui/time.js';
import { useTell } from '../ui/toasts.js';
import { useCall, useReload, type Input, type Row } from './call.js';
import { useChange } from './changes.js';
import { useDefinitions, type Kind } from './definitions.js';
import { useOffered } from './offered.js';
import { CHANGES } from './under-way.js';
import { RecordLink, isFile } from './values.js';
import { valueText } from './words.js';
import { put, t } from '../texts/texts.js';

interface ExtraProps {
  kind: Kind;
  record: Row;
  given: Input;
}

/** What a person wants first of a kind of record, above its details. */
export const EXTRAS: Readonly<Record<string, (props: ExtraProps) => ReactNode>> = {
  orders: OrderProgress,
  products: ProductImages,
};

/** The states that an order goes through, in order (spec, orders). */
const STATES = ['pending', 'confirmed', 'shipped', 'delivered'] as const;

/** A state within a sentence. */
const stateText = (state: string) => valueText(state, 'status').toLowerCase();

/** A state that an order came to, when, and by whom. */
interface Move {
  status: string;
  at: string;
  identityId: string;
}

/** Where an order is, what it went through, and a button for the next move. */
function OrderProgress({ kind, record, given }: ExtraProps) {
  const { kindOf } = useDefinitions();
  const isOn = useOffered();
  const call = useCall();
  const change = useChange();
  const isMoving = useIsMutating({ mutationKey: CHANGES }) > 0;
  const identityId = useIdentityId();
  const { status, identityId: buyerId } = record;
  const at = STATES.indexOf(status as (typeof STATES)[number]);
  const next = at === -1 ? undefined : STATES[at + 1];
  const { patch } = kind;
  const move = (operation: Operation, to: string) =>
    change({
      becomes: new Map([[String(record['id']), { status: to }]]),
      run: () => call(operation, { ...given, status: to }),
      done: t('records.order.moved', { state: stateText(to) }),
    });
  const history = (Array.isArray(record['history']) ? record['history'] : []) as Move[];
  return (
    <section className="panel progress" aria-label={t('records.order.label')}>
      <ol className="steps">
        {STATES.map((state, index) => (
          <li key={state} aria-current={state === status ? 'step' : undefined} className={index <= at ? 'step-done' : ''}>
            {valueText(state, 'status')}
          </li>
        ))}
        {status === 'cancelled' && (
          <li aria-current="step" className="step-bad">
            {valueText('cancelled', 'status')}
          </li>
        )}
      </ol>
      {patch && next !== undefined && isOn(patch, given) && buyerId !== identityId && (
        <Button className="primary" isOff={isMoving} onClick={() => move(patch, next)}>
          {t('records.order.mark', { state: stateText(next) })}
        </Button>
      )}
      {history.length > 0 && (
        <ol className="timeline">
          {history.map((move) => (
            <li key={move.status}>
              {t.rich('records.order.move', {
                state: put(<strong>{valueText(move.status, 'status')}</strong>),
                time: put(<Time at={move.at} />),
                person: put(<RecordLink id={move.identityId} kind={kindOf('identityId')} row={record} />),
              })}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

/** The pictures of a product: dropped or chosen, uploaded one after the other, and removed. */
function ProductImages({ record, given }: ExtraProps) {
  const { client } = useSession();
  const { products } = client.api;
  const { operations } = useDefinitions();
  const isOn = useOffered();
  const call = useCall();
  const reload = useReload();
  const tell = useTell();
  const [isOver, setOver] = useState(false);
  const productId = String(record['id']);
  const images = (Array.isArray(record['images']) ? record['images'] : []).filter(isFile) as unknown as {
    id: string;
    url: string;
  }[];
  const [add, remove] = [operations.get('products.addImage'), operations.get('products.removeImage')];
  const mayChange = add !== undefined && isOn(add, given);
  const adding = useMutation({
    mutationFn: async (files: readonly File[]) => {
      for (const file of files) {
        const image = await uploadFile(products.imageUploadUrl, { productId }, file);
        if (add) await call(add, { productId, ...image });
      }
    },
    onSuccess: (_, files) => tell({ text: t('records.pictures.added', { count: files.length }) }),
    onSettled: reload,
  });
  const removing = useMutation({
    mutationFn: async (imageId: string) => remove && call(remove, { productId, imageId }),
    onSettled: reload,
  });
  if (images.length === 0 && !mayChange) return null;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a button does the same as dropping
    <section
      className={isOver ? 'panel pictures pictures-over' : 'panel pictures'}
      aria-label={t('records.pictures.label')}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(mayChange);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (mayChange) adding.mutate([...event.dataTransfer.files]);
      }}
    >
      <ul>
        {images.map(({ id, url }, index) => (
          <li key={id}>
            <img src={url} alt={t('records.pictures.one', { name: String(record['name']), number: index + 1 })} />
            {mayChange && (
              <Button
                className="icon-button"
                aria-label={t('records.pictures.remove', { number: index + 1 })}
                isOff={removing.isPending}
                onClick={() => removing.mutate(id)}
              >
                <Icon name="trash" />
              </Button>
            )}
          </li>
        ))}
        {mayChange && (
          <li>
            <label className="picture-add">
              <Icon name="image" />
              {t(adding.isPending ? 'records.form.uploading' : 'records.pictures.add')}
              <input
                className="unseen"
                type="file"
                accept="image/*"
                multiple
                onChange={({ target }) => {
                  adding.mutate([...(target.files ?? [])]);
                  target.value = '';
                }}
              />
            </label>
          </li>
        )}
      </ul>
      <Failure of={adding.error ?? removing.error} />
    </section>
  );
}
