import { useRef, useState, type ComponentProps, type KeyboardEvent } from 'react';
import { isComposing } from './is-composing.js';

export interface FoundEntry {
  key: string;
  text: string;
  /** What kind of thing it is. */
  hint?: string;
  run(): void;
}

interface FoundListProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'onKeyDown'> {
  value: string;
  entries: readonly FoundEntry[];
  /** What the list of entries is called. */
  listLabel: string;
  onType(text: string): void;
}

/**
 * The entry that Enter takes: the first that was there for what is typed. It stays the same while others are found,
 * until something else is typed.
 */
function useHeld(typed: string, entries: readonly FoundEntry[]): FoundEntry | undefined {
  const [held, hold] = useState<{ typed: string; key: string | undefined }>({ typed, key: undefined });
  const kept = held.typed === typed ? entries.find(({ key }) => key === held.key) : undefined;
  const taken = kept ?? entries[0];
  if (held.typed !== typed || held.key !== taken?.key) hold({ typed, key: taken?.key });
  return taken;
}

/** An input and what it finds: arrows go through both, Enter in the input takes the marked one, at first the first. */
export function FoundList({ entries, listLabel, onType, ...input }: FoundListProps) {
  const box = useRef<HTMLDivElement>(null);
  const held = useHeld(input.value, entries);
  function onKeyDown(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const stops = [...(box.current?.querySelectorAll<HTMLElement>('input, button') ?? [])];
      stops[stops.indexOf(document.activeElement as HTMLElement) + step]?.focus();
    } else if (event.key === 'Enter' && event.target instanceof HTMLInputElement) {
      event.preventDefault();
      held?.run();
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
              <button type="button" className={key === held?.key ? 'held' : undefined} onClick={run}>
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
