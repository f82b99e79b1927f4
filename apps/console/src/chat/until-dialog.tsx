import { useState, type ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Choice, Field } from '../ui/field.js';

const MINUTE_MS = 60_000;
const SPANS = [
  ['60', 'One hour'],
  ['1440', 'One day'],
  ['10080', 'One week'],
] as const;
type Span = (typeof SPANS)[number][0] | 'time' | 'forever';

interface UntilDialogProps {
  title: string;
  action: string;
  children: ReactNode;
  /** Whether it may have no end, which is null. */
  mayBeForever?: boolean;
  onChoose(until: string | null): void;
  onClose(): void;
}

/** Asks how long something is to last. */
export function UntilDialog({ title, action, children, mayBeForever = false, onChoose, onClose }: UntilDialogProps) {
  const [span, setSpan] = useState<Span>('60');
  const options: (readonly [Span, string])[] = [...SPANS, ['time', 'Until a time…']];
  if (mayBeForever) options.push(['forever', 'For good']);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget).get('until') as string | null;
          const end = span === 'time' ? new Date(given ?? '') : new Date(Date.now() + Number(span) * MINUTE_MS);
          onChoose(span === 'forever' ? null : end.toISOString());
          onClose();
        }}
      >
        <p>{children}</p>
        <Choice<Span> label="How long?" value={span} options={options} onChange={setSpan} />
        {span === 'time' && <Field label="Until" name="until" type="datetime-local" required />}
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" className="danger">
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
