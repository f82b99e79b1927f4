import { useMutation } from '@tanstack/react-query';
import { failureText } from '../ui/failure-text.js';
import { isPassing } from '../ui/query-failure.js';
import { useTell } from '../ui/toasts.js';
import { useReload } from './call.js';
import { CHANGES, type Becoming } from './under-way.js';
import { t } from '../texts/texts.js';

/** A change of records that is shown before the server has answered. */
export interface Change {
  becomes: Becoming;
  /** Makes it. Null when the person has given up. */
  run(): Promise<unknown>;
  /** What is told once it is made. */
  done: string;
  /** What takes it back, if anything does. */
  undo?: ((answer: unknown) => Change | undefined) | undefined;
  /** Called instead of telling a failure; returns whether it has dealt with it. */
  onFailure?: ((error: unknown) => boolean) | undefined;
  /** What begins it anew after a failure. */
  retry?: ((error: unknown) => (() => void) | undefined) | undefined;
}

/** How to change records: they are shown changed at once; a failure brings them back and is told, else undoing is offered. */
export function useChange(): (change: Change) => void {
  const tell = useTell();
  const reload = useReload();
  // the options' callbacks run even when the view that began it is gone
  const { mutate } = useMutation({
    mutationKey: CHANGES,
    mutationFn: ({ run }: Change) => run(),
    async onSuccess(answer, { done, undo }): Promise<void> {
      if (answer === null) return;
      const back = undo?.(answer);
      tell({ text: done, action: back && { text: t('ui.undo'), run: () => takeBack(back) } });
      // it is under way until the lists have it
      await reload();
    },
    onError(error, { onFailure, retry }): void {
      void reload();
      if (onFailure?.(error) === true) return;
      const again = retry?.(error);
      tell({
        text: t('records.act.failed', { why: failureText(error) }),
        isBad: true,
        action: again && { text: t('ui.tryAgain'), run: again },
      });
    },
  });
  // what is back already stays so
  function takeBack(back: Change): void {
    mutate({ ...back, retry: (error) => (isPassing(error) ? () => takeBack(back) : undefined) });
  }
  return mutate;
}
