import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { Failure } from '../ui/notices.js';
import { t } from '../texts/texts.js';

interface ActionFormProps {
  /** Label of the button. */
  action: string;
  /** Called with the field values by name; a failure is shown. */
  run(values: Record<string, string>): Promise<unknown>;
  children: ReactNode;
}

/** Fields and a button; one submission at a time. */
export function ActionForm({ action, run, children }: ActionFormProps) {
  const { mutate, isPending, error } = useMutation({ mutationFn: run });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isPending) return;
        // there are no file fields
        mutate(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>);
      }}
    >
      {children}
      <Failure of={error} />
      <Button type="submit" className="primary" isOff={isPending}>
        {isPending ? t('ui.oneMoment') : action}
      </Button>
    </form>
  );
}
