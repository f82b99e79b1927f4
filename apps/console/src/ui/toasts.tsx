import { createContext, use, useCallback, useRef, useState, type ReactNode } from 'react';
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

/** Most toasts at once. */
const SHOWN = 5;

/** Tells what was done, at the edge of the page, until the next is told; a failure, until somebody closes it. */
type Tell = (toast: Toast) => void;

const ToastContext = createContext<Tell | undefined>(undefined);

/** How to tell what was done. @throws Error outside its provider */
export function useTell(): Tell {
  const tell = use(ToastContext);
  if (!tell) throw new Error('nothing can be told here');
  return tell;
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly (Toast & { key: number })[]>([]);
  const told = useRef(0);
  const tell = useCallback((toast: Toast) => {
    const key = ++told.current;
    setToasts((all) => [...all.filter(({ isBad }) => isBad), { ...toast, key }].slice(-SHOWN));
  }, []);
  const close = (key: number) => setToasts((all) => all.filter((toast) => toast.key !== key));
  return (
    <ToastContext value={tell}>
      {children}
      <output className="toasts">
        {toasts.map(({ key, text, isBad, action }) => (
          <span key={key} className={isBad ? 'toast toast-bad' : 'toast'} role={isBad ? 'alert' : undefined}>
            <span>{text}</span>
            {action && (
              <Button
                className="link"
                onClick={() => {
                  close(key);
                  action.run();
                }}
              >
                {action.text}
              </Button>
            )}
            <Button className="quiet icon-button" aria-label={t('ui.close')} onClick={() => close(key)}>
              <Icon name="close" />
            </Button>
          </span>
        ))}
      </output>
    </ToastContext>
  );
}
