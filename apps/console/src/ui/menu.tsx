import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { Button } from './button.js';
import { Icon, type IconName } from './icons.js';

export interface MenuItem {
  text: string;
  isDangerous?: boolean;
  run(): void;
}

interface MenuProps {
  /** What the button is called. */
  label: string;
  /** Shown on the button instead of its icon. */
  children?: ReactNode;
  icon?: IconName;
  items: readonly MenuItem[];
}

/** Space to the edge of the window, in CSS pixels. */
const EDGE = 8;

/** A button that opens a list of actions, above everything else: the browser's own popover, which Escape closes. */
export function Menu({ label, children, icon = 'more', items }: MenuProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  if (items.length === 0) return null;

  function place(): void {
    const [menu, at] = [list.current, button.current?.getBoundingClientRect()];
    if (!menu || !at) return;
    const { offsetWidth, offsetHeight } = menu;
    const isBelow = at.bottom + offsetHeight + EDGE < innerHeight;
    menu.style.top = `${isBelow ? at.bottom + 4 : Math.max(EDGE, at.top - offsetHeight - 4)}px`;
    menu.style.left = `${Math.max(EDGE, Math.min(at.right - offsetWidth, innerWidth - offsetWidth - EDGE))}px`;
    menu.querySelector('button')?.focus();
  }
  function move(event: KeyboardEvent<HTMLElement>): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const stops = [...event.currentTarget.querySelectorAll('button')];
    stops[stops.indexOf(document.activeElement as HTMLButtonElement) + step]?.focus();
  }
  return (
    <>
      <Button
        ref={button}
        className={children === undefined ? 'quiet icon-button' : ''}
        aria-label={children === undefined ? label : undefined}
        aria-haspopup="menu"
        popoverTarget={id}
      >
        {children ?? <Icon name={icon} />}
      </Button>
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- the focus goes to its items */}
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        className="menu"
        aria-label={label}
        onKeyDown={move}
        onToggle={({ newState }) => newState === 'open' && place()}
      >
        {items.map(({ text, isDangerous = false, run }) => (
          <button
            key={text}
            type="button"
            role="menuitem"
            className={isDangerous ? 'menu-danger' : ''}
            onClick={() => {
              list.current?.hidePopover();
              button.current?.focus();
              run();
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </>
  );
}
