import { createContext, use, useState, type ReactNode } from 'react';
import { Button } from './button.js';
import { Icon } from './icons.js';
import { t } from '../texts/texts.js';

interface Toast {
  text: string;
  /** Takes back what was done. */
  undo?: (() => void) | undefined;
}

/** Tells what was done, at the edge of the page, until the next is told or somebody closes it. */
type Tell = (toast: Toast) => void;

const ToastContext = createContext<Tell | undefined>(undefined);

/** How to tell what was done. @throws Error outside its provider */
export function useTell(): Tell {
  const tell = use(ToastContext);
  if (!tell) throw new Error('nothing can be told here');
  return tell;
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toast, setToast] = useState<Toast>();
  return (
    <ToastContext value={setToast}>
      {children}
      <output className="toasts">
        {toast && (
          <span className="toast">
            <span>{toast.text}</span>
            {toast.undo && (
              <Button
                className="link"
                onClick={() => {
                  toast.undo?.();
                  setToast(undefined);
                }}
              >
                {t('ui.undo')}
              </Button>
            )}
            <Button className="quiet icon-button" aria-label={t('ui.close')} onClick={() => setToast(undefined)}>
              <Icon name="close" />
            </Button>
          </span>
        )}
      </output>
    </ToastContext>
  );
}
