import { useRef, type ComponentProps, type KeyboardEvent } from 'react';

export interface FoundEntry {
  key: string;
  text: string;
  /** What kind of thing it is. */
  hint?: string;
  run(): void;
}

interface FoundListProps extends Omit<ComponentProps<'input'>, 'onChange' | 'onKeyDown'> {
  entries: readonly FoundEntry[];
  /** What the list of entries is called. */
  listLabel: string;
  onType(text: string): void;
}

/** An input and what it finds: arrows go through both, Enter in the input takes the first. */
export function FoundList({ entries, listLabel, onType, ...input }: FoundListProps) {
  const box = useRef<HTMLDivElement>(null);
  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const stops = [...(box.current?.querySelectorAll<HTMLElement>('input, button') ?? [])];
      stops[stops.indexOf(document.activeElement as HTMLElement) + step]?.focus();
    } else if (event.key === 'Enter' && event.target instanceof HTMLInputElement) {
      event.preventDefault();
      entries[0]?.run();
    }
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the keys are those of the input and the buttons in it
    <div className="found-list" ref={box} onKeyDown={onKeyDown}>
      <input type="search" autoComplete="off" {...input} onChange={({ target }) => onType(target.value)} />
      {entries.length > 0 && (
        <ul aria-label={listLabel}>
          {entries.map(({ key, text, hint, run }) => (
            <li key={key}>
              <button type="button" onClick={run}>
                <span>{text}</span>
                {hint !== undefined && <span className="hint">{hint}</span>}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
