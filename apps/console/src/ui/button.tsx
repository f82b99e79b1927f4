import type { ComponentProps } from 'react';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'disabled'> {
  /** Whether it does nothing at present. */
  isOff?: boolean | undefined;
}

/** A button that keeps the focus while it is off: browsers take it from one that is `disabled`. */
export function Button({ isOff = false, onClick, type = 'button', ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      aria-disabled={isOff || undefined}
      onClick={isOff ? (event) => event.preventDefault() : onClick}
      {...rest}
    />
  );
}
