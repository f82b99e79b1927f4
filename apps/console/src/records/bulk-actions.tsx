import { useState } from 'react';
import type { Operation } from '../reference/reference.js';
import { useWithProof } from '../security/proof.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { failureText } from '../ui/failure-text.js';
import { useTell } from '../ui/toasts.js';
import { textOf, useAct } from './acts.js';
import { useCall, type Input, type Row } from './call.js';
import { useChange } from './changes.js';
import { bodyOf, useDefinitions, type Kind } from './definitions.js';
import { useEffects } from './effects.js';
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
  const change = useChange();
  const tell = useTell();
  const { edit, removal } = useEffects(isOffered);
  const withProof = useWithProof();
  const [isAsking, setAsking] = useState(false);
  const count = total === undefined ? '' : t('records.bulk.count', { total });
  if (chosen.length === 0 || !kind) return <p className="hint count">{count}</p>;

  const ids = chosen.map(({ id }) => id);
  const many = kind.bulk.filter((operation) => isOffered(operation, given) && !operation.id.endsWith('createMany'));
  const isRemoval = ({ method, id }: Operation) => method === 'DELETE' || id.endsWith('deleteMany');
  const removesMany = many.some(isRemoval);
  const { remove, parents } = kind;
  const above = Object.fromEntries(parents.map((name) => [name, given[name]]));
  function removeAll(of: Kind, remove: Operation): void {
    const gone: Row[] = [];
    async function removeOne(row: Row): Promise<void> {
      await call(remove, { ...above, [of.param]: row['id'] });
      gone.push(row);
    }
    change({
      ...removal(of, above, chosen),
      run: () =>
        withProof(async () => {
          const ends = await Promise.allSettled(chosen.filter((row) => !gone.includes(row)).map(removeOne));
          for (const end of ends) if (end.status === 'rejected') throw end.reason;
        }),
      done: t('records.bulk.deleted', { count: chosen.length }),
      onFailure(error) {
        if (gone.length === 0) return false;
        const back = removal(of, above, gone).undo?.(undefined);
        tell({
          text: t('records.bulk.partly', { gone: gone.length, count: chosen.length, why: failureText(error) }),
          isBad: true,
          action: back && { text: t('ui.undo'), run: () => change(back) },
        });
        return true;
      },
      retry: () => () => removeAll(of, remove),
    });
    clear();
  }
  function start(of: Kind, operation: Operation): void {
    const name = bodyOf(operation, reference).items ? (operation.body?.name ?? 'ids') : 'ids';
    act({
      operation,
      given: { ...above, [name]: ids },
      text: textOf(operation).replace(/ many$/, ''),
      title: t('records.bulk.chosen', { count: chosen.length }),
      isDangerous: isRemoval(operation),
      effect: isRemoval(operation)
        ? removal(of, above, chosen)
        : operation.method === 'PATCH'
          ? ({ data }) => edit(of, above, chosen, (data ?? {}) as Row)
          : undefined,
      onDone: clear,
    });
  }
  return (
    <fieldset className="group bulk" aria-label={t('records.bulk.label')}>
      <strong>{t('records.bulk.chosen', { count: chosen.length })}</strong>
      {many.map((operation) => (
        <Button key={operation.id} onClick={() => start(kind, operation)}>
          {textOf(operation).replace(/ many$/, '')}
        </Button>
      ))}
      {!removesMany && remove && isOffered(remove, given) && <Button onClick={() => setAsking(true)}>{t('ui.delete')}</Button>}
      <Button className="quiet" onClick={clear}>
        {t('records.bulk.clear')}
      </Button>
      {isAsking && remove && (
        <Confirm
          title={t('records.bulk.sure', { count: chosen.length })}
          action={t('ui.delete')}
          onConfirm={() => removeAll(kind, remove)}
          onClose={() => setAsking(false)}
        >
          <p>{kind.restore ? t('records.bulk.what', { count: chosen.length }) : t('records.bulk.forGood')}</p>
        </Confirm>
      )}
    </fieldset>
  );
}
