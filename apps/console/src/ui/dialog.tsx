import { useEffect, useId, useRef, type ReactNode } from 'react';

interface DialogProps {
  title: string;
  children: ReactNode;
  onClose(): void;
}

/** The browser's own dialog: it traps the focus and gives it back, and Escape closes it. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={({ target, currentTarget }) => target === currentTarget && onClose()}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
