/** Number of requests within a number of seconds. */
export type Rate = readonly [points: number, seconds: number];

/** The rates of a limit. A missing rate is unlimited. */
export interface Limit {
  /** Per address; an IPv6 /64 network counts as one. */
  perAddress?: Rate;
  /** Per account and network of the request (decisions H9); of `refresh` and `factors` from all networks together. */
  perAccount?: Rate;
}

const MINUTE = 60;

/** All limits (decisions A16): what each covers, what identifies an account, and its default rates. */
export const RATE_LIMITS = {
  login: { of: 'login', account: 'the email', perAddress: [30, MINUTE], perAccount: [10, MINUTE] },
  register: { of: 'registration', account: 'the email', perAddress: [10, MINUTE], perAccount: [5, MINUTE] },
  mfaVerify: { of: 'MFA codes', account: 'the identity', perAddress: [20, MINUTE], perAccount: [10, MINUTE] },
  mfaResend: {
    of: 'another MFA code',
    account: 'the identity',
    perAddress: [20, MINUTE],
    perAccount: [10, MINUTE],
  },
  resetLink: {
    of: 'reset links',
    account: 'the email',
    perAddress: [10, MINUTE],
    perAccount: [3, 15 * MINUTE],
  },
  accountMails: {
    of: 'links to verify or change an email',
    account: 'the identity',
    perAccount: [5, 15 * MINUTE],
  },
  factors: {
    of: 'new factors and recovery codes, and the removal of factors',
    account: 'the identity',
    perAccount: [20, 15 * MINUTE],
  },
  resetPassword: {
    of: 'password reset',
    account: 'the identity',
    perAddress: [10, MINUTE],
    perAccount: [5, MINUTE],
  },
  passwordProof: {
    of: 'proofs, changing a password or email, linking and unlinking providers',
    account: 'the identity',
    perAddress: [20, MINUTE],
    perAccount: [10, MINUTE],
  },
  refresh: { of: 'refresh', account: 'the session', perAddress: [120, MINUTE], perAccount: [30, MINUTE] },
  checkToken: { of: 'token check', perAddress: [60, MINUTE] },
  onetimeLogin: { of: 'one-time token login', perAddress: [20, MINUTE] },
  passkeyOptions: { of: 'options for passkeys', perAddress: [60, MINUTE] },
  passkeyVerify: { of: 'passkey login', perAddress: [30, MINUTE] },
  oauthStart: { of: 'provider login', perAddress: [20, MINUTE] },
  webhookTests: { of: 'tests and redeliveries of a webhook', account: 'the webhook', perAccount: [60, MINUTE] },
} as const satisfies Record<string, Limit & { of: string; account?: string }>;

export type LimitName = keyof typeof RATE_LIMITS;

/** `false` turns all limits off, `true` uses the defaults; an object replaces some of them. */
export type RateLimitSettings = boolean | Partial<Record<LimitName, Limit>>;

function checkRate(name: string, rate: Rate | undefined): void {
  if (rate?.some((value) => !Number.isInteger(value) || value < 1))
    throw new Error(`${name}: a rate is two whole numbers from 1, requests and seconds`);
}

/**
 * The effective rates.
 * @throws Error naming a wrong setting
 */
export function limitsOf(settings: RateLimitSettings): Partial<Record<LimitName, Limit>> {
  if (typeof settings === 'boolean') return settings ? RATE_LIMITS : {};
  for (const [name, { perAddress, perAccount }] of Object.entries(settings)) {
    if (!Object.hasOwn(RATE_LIMITS, name)) throw new Error(`rateLimits.${name}: there is no such limit`);
    checkRate(`rateLimits.${name}.perAddress`, perAddress);
    checkRate(`rateLimits.${name}.perAccount`, perAccount);
  }
  return { ...RATE_LIMITS, ...settings };
}
