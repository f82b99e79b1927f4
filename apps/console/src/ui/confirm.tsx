import type { ReactNode } from 'react';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { t } from '../texts/texts.js';

interface ConfirmProps {
  title: string;
  children: ReactNode;
  /** Label of the confirming button. */
  action: string;
  onConfirm(): void;
  onClose(): void;
}

/** Asks before an action that affects others. */
export function Confirm({ title, children, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      <div className="dialog-actions">
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        <Button
          className="danger"
          onClick={() => {
            onConfirm();
            onClose();
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
