import { createContext, use, useState, type ReactNode } from 'react';
import { Button } from './button.js';
import { Icon } from './icons.js';
import { t } from '../texts/texts.js';

interface Toast {
  text: string;
  /** Whether it tells of a failure. */
  isBad?: boolean;
  /** What can be done about it: to take it back, or to try it again. */
  action?: { text: string; run(): void } | undefined;
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
          <span className={toast.isBad ? 'toast toast-bad' : 'toast'} role={toast.isBad ? 'alert' : undefined}>
            <span>{toast.text}</span>
            {toast.action && (
              <Button
                className="link"
                onClick={() => {
                  setToast(undefined);
                  toast.action?.run();
                }}
              >
                {toast.action.text}
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
