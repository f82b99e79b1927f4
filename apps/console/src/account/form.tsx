import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from '../ui/notices.js';

interface ActionFormProps {
  /** On the button. */
  action: string;
  /** What the button does with the values of the fields, by their names; its failure is shown. */
  run(values: Record<string, string>): Promise<unknown>;
  children: ReactNode;
}

/** Fields and a button; one answer at a time. */
export function ActionForm({ action, run, children }: ActionFormProps) {
  const { mutate, isPending, error } = useMutation({ mutationFn: run });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isPending) return;
        // there are no fields for files
        mutate(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>);
      }}
    >
      {children}
      <Failure of={error} />
      <button type="submit" className="primary" disabled={isPending}>
        {isPending ? 'One moment…' : action}
      </button>
    </form>
  );
}
