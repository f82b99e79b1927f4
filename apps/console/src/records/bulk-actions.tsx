import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Operation } from '../reference/reference.js';
import { useWithProof } from '../security/proof.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { Failure } from '../ui/notices.js';
import { useTell } from '../ui/toasts.js';
import { textOf, useAct } from './acts.js';
import { useCall, useReload, type Input, type Row } from './call.js';
import { bodyOf, useDefinitions, type Kind } from './definitions.js';
import { useOffered } from './offered.js';
import { t } from '../texts/texts.js';

interface BulkActionsProps {
  kind: Kind | undefined;
  given: Input;
  chosen: readonly Row[];
  total: number | undefined;
  clear(): void;
}

/** What can be done with the chosen rows: by an operation for many where there is one, else one after the other. */
export function BulkActions({ kind, given, chosen, total, clear }: BulkActionsProps) {
  const { reference } = useDefinitions();
  const isOffered = useOffered();
  const act = useAct();
  const call = useCall();
  const reload = useReload();
  const tell = useTell();
  const withProof = useWithProof();
  const [isAsking, setAsking] = useState(false);
  const removing = useMutation({
    mutationFn: async ({ remove, param }: Kind) =>
      withProof(async () => {
        if (remove) await Promise.all(chosen.map(({ id }) => call(remove, { ...given, [param]: id })));
      }),
    onSuccess: () => tell({ text: t('records.bulk.deleted', { count: chosen.length }) }),
    onSettled: async () => {
      clear();
      await reload();
    },
  });
  const count = total === undefined ? '' : t('records.bulk.count', { total });
  if (chosen.length === 0 || !kind) return <p className="hint count">{count}</p>;

  const ids = chosen.map(({ id }) => id);
  const many = kind.bulk.filter((operation) => isOffered(operation, given) && !operation.id.endsWith('createMany'));
  const removesMany = many.some(({ method, id }) => method === 'DELETE' || id.endsWith('deleteMany'));
  function start(operation: Operation): void {
    const name = bodyOf(operation, reference).items ? (operation.body?.name ?? 'ids') : 'ids';
    act({
      operation,
      given: { ...given, [name]: ids },
      text: textOf(operation).replace(/ many$/, ''),
      title: t('records.bulk.chosen', { count: chosen.length }),
      isDangerous: /delete/i.test(operation.id),
      onDone: clear,
    });
  }
  return (
    <fieldset className="group bulk" aria-label={t('records.bulk.label')}>
      <strong>{t('records.bulk.chosen', { count: chosen.length })}</strong>
      {many.map((operation) => (
        <Button key={operation.id} onClick={() => start(operation)}>
          {textOf(operation).replace(/ many$/, '')}
        </Button>
      ))}
      {!removesMany && kind.remove && isOffered(kind.remove, given) && (
        <Button onClick={() => setAsking(true)}>{t('ui.delete')}</Button>
      )}
      <Button className="quiet" onClick={clear}>
        {t('records.bulk.clear')}
      </Button>
      <Failure of={removing.error} />
      {isAsking && (
        <Confirm
          title={t('records.bulk.sure', { count: chosen.length })}
          action={t('ui.delete')}
          onConfirm={() => removing.mutate(kind)}
          onClose={() => setAsking(false)}
        >
          <p>{t('records.bulk.what')}</p>
        </Confirm>
      )}
    </fieldset>
  );
}
