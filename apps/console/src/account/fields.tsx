import { Field } from '../ui/field.js';
import { t } from '../texts/texts.js';

export function EmailField() {
  return <Field label={t('account.email')} name="email" type="email" autoComplete="username" required autoFocus />;
}

export function NewPasswordField({ label = t('account.password') }: { label?: string }) {
  return (
    <Field
      label={label}
      name="password"
      type="password"
      autoComplete="new-password"
      minLength={8}
      maxLength={72}
      required
      hint={t('links.passwordHint')}
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
