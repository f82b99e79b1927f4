import { layOut, type MailContent, type MailLook, type RenderedMail } from './layout.js';

/** Values for a template. Texts have no line breaks. */
export interface MailValues {
  /** The recipient. */
  email: string;
  /** For mails that link to a page. */
  link?: string;
  code?: string;
  newEmail?: string;
  organizationName?: string;
  inviterEmail?: string;
  provider?: string;
  /** How long the link or code is valid, in one of the two units. */
  minutes?: number;
  hours?: number;
  [name: string]: string | number | undefined;
}

/** Makes a mail from values, in the product's look. A template must escape its own HTML. */
export type MailTemplate = (values: MailValues, look: MailLook) => RenderedMail;

/** The validity in words; undefined when unknown. */
function timeLeft({ minutes, hours }: MailValues): string | undefined {
  if (minutes !== undefined) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
  if (hours !== undefined) return `${hours} ${hours === 1 ? 'hour' : 'hours'}`;
  return undefined;
}

function validity(what: 'link' | 'code', values: MailValues): string[] {
  const left = timeLeft(values);
  return left === undefined ? [] : [`The ${what} is valid for ${left}.`];
}

/** When something comes, in days, or in hours where it comes sooner. */
function inDays({ days, ...values }: MailValues): string {
  if (typeof days === 'number' && days > 0) return ` in ${days} ${days === 1 ? 'day' : 'days'}`;
  const left = timeLeft(values);
  return left === undefined ? ' now' : ` in ${left}`;
}

const NOT_YOU = 'If this was not you, reset your password and tell us.';

const CONTENTS = {
  'confirm-email': (values) => ({
    subject: 'Confirm your email address',
    before: ['Welcome!', `Please confirm that ${values.email} is your email address.`],
    button: { label: 'Confirm email address', link: values.link ?? '' },
    after: [
      ...validity('link', values),
      'If it was not you who registered, do not confirm: somebody else knows the password of this account. Ignore this mail; or make the account yours with "Forgot password?" at the sign-in, which signs out everybody else.',
    ],
  }),
  'confirm-new-email': (values) => ({
    subject: 'Confirm your new email address',
    before: ['Hello,', `Please confirm that your account is to use ${values.email} from now on.`],
    button: { label: 'Confirm new address', link: values.link ?? '' },
    after: [...validity('link', values), 'If you did not ask for this, ignore this mail: nothing changes.'],
  }),
  'email-change-notice': (values) => ({
    subject: 'Your email address is about to change',
    before: [
      'Hello,',
      `Somebody who is signed in to your account asked to change its email address from ${values.email} to ${values.newEmail ?? 'another'}.`,
      'The change takes effect when the new address is confirmed.',
    ],
    after: ['If this was you, there is nothing to do.', 'If it was not, change your password now: that stops the change.'],
  }),
  'email-changed': (values) => ({
    subject: 'Your email address has changed',
    before: ['Hello,', `The email address of your account was changed from ${values.email} to ${values.newEmail ?? 'another'}.`],
    after: ['If this was you, there is nothing to do.', 'If it was not, tell us at once.'],
  }),
  'reset-password': (values) => ({
    subject: 'Reset your password',
    before: ['Hello,', `Somebody asked to reset the password of the account of ${values.email}.`],
    button: { label: 'Choose a new password', link: values.link ?? '' },
    after: [...validity('link', values), 'If you did not ask for this, ignore this mail: your password stays as it is.'],
  }),
  'password-changed': (values) => ({
    subject: 'Your password has changed',
    before: ['Hello,', `The password of the account of ${values.email} was changed. All devices were signed out.`],
    after: [NOT_YOU],
  }),
  'provider-linked': (values) => ({
    subject: 'A new way to sign in to your account',
    before: [
      'Hello,',
      `it is now possible to sign in to the account of ${values.email} through ${values.provider ?? 'a provider'} too.`,
    ],
    after: ['If this was you, there is nothing to do.', 'If it was not, unlink it, change your password and tell us.'],
  }),
  'factor-added': (values) => ({
    subject: 'A second factor was added to your account',
    before: [
      'Hello,',
      `"${values.factor ?? ''}" was added to the account of ${values.email}, as a second factor to sign in with.`,
    ],
    after: ['If this was you, there is nothing to do.', NOT_YOU],
  }),
  'factor-removed': (values) => ({
    subject: 'A second factor was removed from your account',
    before: ['Hello,', `"${values.factor ?? ''}" was removed from the second factors of the account of ${values.email}.`],
    after: ['If this was you, there is nothing to do.', NOT_YOU],
  }),
  'recovery-codes-made': (values) => ({
    subject: 'New recovery codes for your account',
    before: ['Hello,', `new recovery codes were made for the account of ${values.email}. Earlier ones no longer work.`],
    after: ['If this was you, there is nothing to do.', NOT_YOU],
  }),
  'factors-reset': (values) => ({
    subject: 'Your second factors were removed',
    before: [
      'Hello,',
      `an administrator removed all second factors and recovery codes of the account of ${values.email}. It can be signed in to without them.`,
    ],
    after: ['If you did not ask for this, tell us at once.'],
  }),
  deactivated: (values) => ({
    subject: 'Your account is deactivated',
    before: ['Hello,', `The account of ${values.email} is deactivated, and nobody can sign in to it.`],
    after: ['If you did not expect this, tell us.'],
  }),
  'erasure-requested': (values) => ({
    subject: 'Your account will be erased',
    before: [
      'Hello,',
      `The account of ${values.email} is deactivated, and everything about you will be erased${inDays(values)}. That cannot be undone.`,
    ],
    after: [
      `If you did not ask for this, tell us at once${inDays(values) !== ' now' ? ': until then it can be taken back' : ''}.`,
    ],
  }),
  'export-ready': (values) => ({
    subject: 'Your data is ready',
    before: ['Hello,', `An archive of everything that names the account of ${values.email} is ready for you.`],
    button: { label: 'Download the archive', link: values.link ?? '' },
    after: [
      ...validity('link', values),
      'Whoever has the link can read the archive. If you did not ask for it, tell us at once.',
    ],
  }),
  'mfa-code': (values) => ({
    subject: 'Your sign-in code',
    before: ['Hello,', 'This is your code to sign in:'],
    code: values.code ?? '',
    after: [
      ...validity('code', values),
      'Do not share it with anybody. If you are not signing in, change your password: somebody may know it.',
    ],
  }),
  invitation: (values) => ({
    subject: values.organizationName === undefined ? 'You are invited' : `You are invited to ${values.organizationName}`,
    before: [
      'Hello,',
      values.organizationName === undefined
        ? `${values.inviterEmail ?? 'Somebody'} invites you to create an account as ${values.email}.`
        : `${values.inviterEmail ?? 'Somebody'} invites you to join ${values.organizationName} as ${values.email}.`,
    ],
    button: { label: 'Accept the invitation', link: values.link ?? '' },
    after: [...validity('link', values), 'If you do not know who invites you, or do not want to, ignore this mail.'],
  }),
  'webhook-disabled': (values) => ({
    subject: 'Your webhook is disabled',
    before: [
      'Hello,',
      `the webhook for ${values.host ?? 'a receiver'}, which the account of ${values.email} made, is disabled: its receiver said that it is gone, or took nothing for three days.`,
    ],
    after: ['Once it can receive events again, enable the webhook. The list of its deliveries has what it missed until then.'],
  }),
} satisfies Record<string, (values: MailValues) => MailContent>;

export type MailTemplateName = keyof typeof CONTENTS;
export type MailTemplates = Record<MailTemplateName, MailTemplate>;

/** The templates used unless a host replaces them. */
export const DEFAULT_TEMPLATES = Object.fromEntries(
  Object.entries(CONTENTS).map(
    ([name, contentOf]) => [name, (values, look) => layOut(contentOf(values), look)] satisfies [string, MailTemplate],
  ),
) as MailTemplates;
