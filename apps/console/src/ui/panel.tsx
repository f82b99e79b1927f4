import { useEffect, useId, useRef, type ReactNode } from 'react';
import { Button } from './button.js';
import { Icon } from './icons.js';
import { t } from '../texts/texts.js';
import './panel.css';

interface PanelProps {
  title: string;
  /** What it shows: another takes the focus again. */
  of?: string;
  onClose(): void;
  children: ReactNode;
}

/** What is shown beside a conversation or a list; in its place on a small screen. Takes the focus, and gives it back. */
export function Panel({ title, of, onClose, children }: PanelProps) {
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const before = useRef<Element>(null);
  useEffect(() => {
    before.current = document.activeElement;
    heading.current?.focus();
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- once more for another
  }, [of]);
  useEffect(
    () => () => {
      // what had the focus when it opened, at the latest
      const { current } = before;
      if (current instanceof HTMLElement && current.isConnected) current.focus();
    },
    [],
  );
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape closes it
    <aside
      className="panel-beside"
      aria-labelledby={id}
      onKeyDown={(event) => {
        const isInDialog = event.target instanceof Element && event.target.closest('dialog') !== null;
        if (event.key === 'Escape' && !event.defaultPrevented && !isInDialog) onClose();
      }}
    >
      <header className="panel-head">
        <h2 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Button className="icon-button quiet" aria-label={t('ui.close')} title={t('ui.close')} onClick={onClose}>
          <Icon name="close" />
        </Button>
      </header>
      {children}
    </aside>
  );
}
