/** The purposes of one-time tokens (decisions A7). */
export const ONETIME_TARGETS = [
  'login',
  'confirm-email',
  'change-email',
  'reset-password',
  'mfa-challenge',
  'invitation',
] as const;
export type OnetimeTarget = (typeof ONETIME_TARGETS)[number];
