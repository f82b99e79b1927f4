import { Field } from '../ui/field.js';

export function EmailField() {
  return <Field label="Email" name="email" type="email" autoComplete="username" required autoFocus />;
}

export function NewPasswordField({ label = 'Password' }: { label?: string }) {
  return (
    <Field
      label={label}
      name="password"
      type="password"
      autoComplete="new-password"
      minLength={8}
      maxLength={72}
      required
      hint="At least 8 characters; a few words are easy to remember and hard to guess"
    />
  );
}

/** A code of a mail or of an authenticator app. */
export function SixDigits({ label }: { label: string }) {
  return (
    <Field
      label={label}
      name="code"
      inputMode="numeric"
      autoComplete="one-time-code"
      pattern="\s*[0-9]{6}\s*"
      required
      autoFocus
    />
  );
}
