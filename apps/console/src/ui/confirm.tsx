import { useEffect, useId, useRef, type ReactNode } from 'react';

interface ConfirmProps {
  title: string;
  children: ReactNode;
  /** Label of the confirming button. */
  action: string;
  onConfirm(): void;
  onClose(): void;
}

/** Asks before an action that affects others. Uses the browser's own dialog, which traps the focus and restores it. */
export function Confirm({ title, children, action, onConfirm, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      <p>{children}</p>
      <div className="dialog-actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="danger"
          onClick={() => {
            onConfirm();
            onClose();
          }}
        >
          {action}
        </button>
      </div>
    </dialog>
  );
}
