import { useEffect, useEffectEvent, useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Button } from './button.js';

/** Distance from the button, and least distance from the window's edges, in pixels. */
const [GAP, EDGE] = [4, 8];
const FOCUSABLE = 'button, input, textarea, select, a[href]';

interface PopupProps {
  /** A menu of actions, which arrow keys go through; or a small dialog. */
  kind: 'menu' | 'dialog';
  label: string;
  /** What the button shows; its label where that is no text. */
  button: ReactNode;
  className?: string;
  /** What pops up. `close` gives the focus back to the button. */
  children(close: () => void): ReactNode;
}

/** A button, and what pops up at it: above all else, and gone with Escape or a click elsewhere. */
export function Popup({ kind, label, button, className = '', children }: PopupProps) {
  const [isOpen, setOpen] = useState(false);
  const invoker = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = () => {
    setOpen(false);
    invoker.current?.focus({ preventScroll: true });
  };
  return (
    <>
      <Button
        ref={invoker}
        className={className}
        aria-label={typeof button === 'string' ? undefined : label}
        title={typeof button === 'string' ? undefined : label}
        aria-haspopup={kind}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </Button>
      {isOpen && (
        <Floating id={id} kind={kind} label={label} at={invoker} onClose={close} onLeave={() => setOpen(false)}>
          {children}
        </Floating>
      )}
    </>
  );
}

interface FloatingProps {
  id: string;
  kind: 'menu' | 'dialog';
  label: string;
  at: { current: HTMLElement | null };
  onClose(): void;
  onLeave(): void;
  children(close: () => void): ReactNode;
}

function Floating({ id, kind, label, at, onClose, onLeave, children }: FloatingProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current: shown } = box;
    shown?.showPopover();
    const put = () => place(shown, at.current);
    put();
    (shown?.querySelector<HTMLElement>(FOCUSABLE) ?? shown)?.focus({ preventScroll: true });
    const observer = new ResizeObserver(put);
    if (shown) observer.observe(shown);
    addEventListener('scroll', put, true);
    addEventListener('resize', put);
    return () => {
      observer.disconnect();
      removeEventListener('scroll', put, true);
      removeEventListener('resize', put);
    };
  }, [at]);
  const onPress = useEffectEvent(({ target }: PointerEvent) => {
    const isInside = (part: Element | null) => target instanceof Node && part?.contains(target) === true;
    if (!isInside(box.current) && !isInside(at.current)) onLeave();
  });
  useEffect(() => {
    const listener = (event: PointerEvent) => onPress(event);
    addEventListener('pointerdown', listener, true);
    return () => removeEventListener('pointerdown', listener, true);
  }, []);
  function onKeyDown(event: KeyboardEvent): void {
    // of this alone, not of what is around it in the page
    event.stopPropagation();
    if (event.key === 'Escape') {
      event.preventDefault();
      onClose();
    } else if (kind === 'menu') moveInMenu(event, box.current, onClose);
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- its role is one of two, and the keys are of what is in it
    <div
      id={id}
      ref={box}
      className={`popup popup-${kind}`}
      popover="manual"
      role={kind}
      aria-label={label}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onBlur={({ relatedTarget, currentTarget }) => {
        // not of a window that loses the focus
        if (relatedTarget && !currentTarget.contains(relatedTarget) && relatedTarget !== at.current) onLeave();
      }}
    >
      {children(onClose)}
    </div>
  );
}

function moveInMenu(event: KeyboardEvent, menu: HTMLElement | null, close: () => void): void {
  const items = [...(menu?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (event.key === 'Tab') return close();
  if (to === undefined) return;
  event.preventDefault();
  items.at(to % items.length)?.focus();
}

/** Puts a box below another, or above where there is no room. */
function place(box: HTMLElement | null, at: HTMLElement | null): void {
  if (!box || !at) return;
  const around = at.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const below = around.bottom + GAP;
  const top = below + height <= innerHeight - EDGE ? below : Math.max(EDGE, around.top - GAP - height);
  const left = Math.max(EDGE, Math.min(around.right - width, innerWidth - width - EDGE));
  box.style.top = `${top}px`;
  box.style.left = `${left}px`;
}

interface MenuItemProps {
  children: ReactNode;
  className?: string;
  onChoose(): void;
}

/** An action of a menu. */
export function MenuItem({ children, className, onChoose }: MenuItemProps) {
  return (
    <button type="button" role="menuitem" tabIndex={-1} className={className} onClick={onChoose}>
      {children}
    </button>
  );
}
