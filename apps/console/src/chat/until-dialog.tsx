import { useState, type ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Choice, Field } from '../ui/field.js';
import { LATEST, timeOfLocal } from '../texts/formats.js';
import { t } from '../texts/texts.js';

const MINUTE_MS = 60_000;
const SPANS = [
  ['60', 'hour'],
  ['1440', 'day'],
  ['10080', 'week'],
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
  const options: (readonly [Span, string])[] = [
    ...SPANS.map(([minutes, name]) => [minutes, t(`chat.until.${name}`)] as const),
    ['time', t('chat.until.time')],
  ];
  if (mayBeForever) options.push(['forever', t('chat.until.forever')]);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget).get('until') as string | null;
          const end = span === 'time' ? timeOfLocal(given ?? '') : new Date(Date.now() + Number(span) * MINUTE_MS);
          onChoose(span === 'forever' ? null : end.toISOString());
          onClose();
        }}
      >
        <p>{children}</p>
        <Choice<Span> label={t('chat.until.howLong')} value={span} options={options} onChange={setSpan} />
        {span === 'time' && <Field label={t('chat.until.until')} name="until" type="datetime-local" max={LATEST} required />}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" className="danger">
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
