import { useState, type ComponentProps } from 'react';
import { Field } from './field.js';

interface KeptFieldProps extends Omit<ComponentProps<typeof Field>, 'value' | 'onChange'> {
  /** What the address has. */
  value: string;
  onType(text: string): void;
}

/**
 * An input whose text the address keeps. The address has it a moment later: if the input showed that, the cursor would
 * jump to the end, and an input method lose its word. So it has its own text, until the address has one that was not
 * typed here.
 */
export function KeptField({ value, onType, ...field }: KeptFieldProps) {
  const [{ text, sent, seen }, set] = useState({ text: value, sent: [] as readonly string[], seen: value });
  if (value !== seen) {
    const at = sent.indexOf(value);
    set({ text: at < 0 ? value : text, sent: at < 0 ? [] : sent.slice(at + 1), seen: value });
  }
  function type(typed: string, isComposing: boolean): void {
    set({ text: typed, sent: isComposing ? sent : [...sent, typed], seen });
    if (!isComposing) onType(typed);
  }
  return (
    <Field
      autoComplete="off"
      {...field}
      value={text}
      onChange={({ target, nativeEvent }) => type(target.value, (nativeEvent as InputEvent).isComposing)}
      onCompositionEnd={({ currentTarget }) => type(currentTarget.value, false)}
    />
  );
}
