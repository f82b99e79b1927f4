import { createHmac, hkdfSync } from 'node:crypto';
import {
  addressGroup,
  addressNetwork,
  defineGuard,
  describeError,
  requestErrors,
  type AuthenticatedContext,
  type Guard,
  type Log,
  type RequestContext,
} from '@tandem/core';
import type { RedisDriver } from '@tandem/drivers/redis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { limitsOf, type LimitName, type Rate, type RateLimitSettings } from './limits.js';

export type RateLimits = ReturnType<typeof createRateLimits>;

interface RateLimitsOptions {
  settings: RateLimitSettings;
  /** Shares counts between instances. Without it, or while it is down, each process counts by itself. */
  redis?: RedisDriver | undefined;
  /** Key for hashing addresses and accounts before they are stored. */
  secret: string;
  log: Log;
}

type Kind = 'perAddress' | 'perAccount';
type Limiter = Pick<RateLimiterAbstract, 'consume'>;

const KEY_PREFIX = 'tandem:limit';

/** Where a count stands after a request, in the fields of the headers of draft-ietf-httpapi-ratelimit-headers-11. */
interface Standing {
  name: string;
  rate: Rate;
  left: number;
  /** Seconds until it begins anew. */
  seconds: number;
}

/**
 * Tells the caller of a limit (decisions E6): `RateLimit-Policy: "login.perAddress";q=30;w=60` and `RateLimit:
 * "login.perAddress";r=29;t=60`. A batch has no such headers, because each of its calls has limits of its own.
 */
function show(ctx: RequestContext, { name, rate: [points, duration], left, seconds }: Standing): void {
  if (ctx.batch) return;
  ctx.appendHeader('ratelimit-policy', `"${name}";q=${points};w=${duration}`);
  ctx.appendHeader('ratelimit', `"${name}";r=${left};t=${seconds}`);
}

/** Rate limits by address and by account (decisions A16). */
export function createRateLimits({ settings, redis, secret, log }: RateLimitsOptions) {
  const limits = limitsOf(settings);
  const hashKey = Buffer.from(hkdfSync('sha256', secret, '', 'tandem rate limits', 32));
  const limiters = new Map<string, Limiter>();
  /** Whether Redis answered the last count by an error. */
  let isRefusing = false;

  function createLimiter(keyPrefix: string, [points, duration]: Rate): Limiter {
    const memory = new RateLimiterMemory({ keyPrefix, points, duration });
    if (!redis) return memory;
    // falls back to memory at once, instead of waiting for a connection
    const own = { storeClient: redis.client, rejectIfRedisNotReady: true };
    const shared = new RateLimiterRedis({ ...own, keyPrefix, points, duration });
    return {
      consume: (key) =>
        shared.consume(key).then(
          (standing) => {
            isRefusing = false;
            return standing;
          },
          (error: unknown) => {
            if (error instanceof RateLimiterRes) throw error;
            warnOnce(error);
            return memory.consume(key);
          },
        ),
    };
  }

  /** Outages are reported by the connection. */
  function warnOnce(error: unknown): void {
    if (isRefusing || !(error instanceof Error) || error.name !== 'ReplyError') return;
    isRefusing = true;
    log.warn({ err: describeError(error) }, 'Redis refuses to count: this process limits by its own memory');
  }

  function limiterOf(name: LimitName, kind: Kind): Limiter | undefined {
    const rate = limits[name]?.[kind];
    if (!rate) return undefined;
    const prefix = `${KEY_PREFIX}:${name}:${kind}`;
    const limiter = limiters.get(prefix) ?? createLimiter(prefix, rate);
    limiters.set(prefix, limiter);
    return limiter;
  }

  /**
   * @param ctx of a caller who may see the count
   * @throws requestErrors.tooMany
   */
  async function count(name: LimitName, kind: Kind, who: string, ctx?: RequestContext): Promise<void> {
    const rate = limits[name]?.[kind];
    const limiter = limiterOf(name, kind);
    if (!rate || !limiter) return;
    const key = createHmac('sha256', hashKey).update(who).digest('base64url');
    const outcome = await limiter.consume(key).then(
      (standing) => ({ standing, isRefused: false }),
      (refusal: unknown) => ({ standing: refusal, isRefused: true }),
    );
    const { standing, isRefused } = outcome;
    // a limit that cannot be counted refuses nobody
    if (!(standing instanceof RateLimiterRes))
      return log.error({ err: describeError(standing), limit: name }, 'a rate limit could not be counted');
    const seconds = Math.max(1, Math.ceil(standing.msBeforeNext / 1000));
    if (ctx) show(ctx, { name: `${name}.${kind}`, rate, left: standing.remainingPoints, seconds });
    if (isRefused) throw requestErrors.tooMany({ retryAfter: seconds });
  }

  function countAccount(name: LimitName, account: string, ip?: string, ctx?: RequestContext): Promise<void> {
    return count(name, 'perAccount', ip === undefined ? account : `${account} ${addressNetwork(ip)}`, ctx);
  }

  return {
    /**
     * Limits a procedure by address, and says so in the answer. Put it before `.input`, so that a refused request costs no
     * body parsing.
     */
    address(name: LimitName): Guard<unknown> {
      return defineGuard([requestErrors.tooMany], ({ ctx }) => count(name, 'perAddress', addressGroup(ctx.ip), ctx));
    },

    /**
     * Limits a procedure by account and network, so that nobody can use up another's requests. Put it after `.input`. The
     * answer shows the count only to callers who are signed in: others could watch how often somebody else tries.
     * @param accountOf the account; undefined for none. Known and unknown accounts count alike, so that the answer does not
     * reveal which exist
     */
    account<Input>(name: LimitName, accountOf: (input: Input) => string | undefined): Guard<Input> {
      return defineGuard<Input>([requestErrors.tooMany], async ({ ctx, input }) => {
        const account = accountOf(input);
        if (account !== undefined) await countAccount(name, account, ctx.ip, 'identity' in ctx ? ctx : undefined);
      });
    },

    /**
     * Limits what a signed-in caller does to an account, from all networks together: only who is signed in as the caller can use
     * that up. Put it after `.input`.
     */
    caller<Input>(name: LimitName, accountOf: (input: Input) => string): Guard<Input> {
      return defineGuard<Input>([requestErrors.tooMany], ({ ctx, input }) => {
        const { identity } = ctx as AuthenticatedContext;
        return countAccount(name, `${identity.id} ${accountOf(input)}`, undefined, ctx);
      });
    },

    /**
     * Counts for an account that is only known during the work, or when not every request counts. The procedure also needs
     * `address`, which declares the error.
     * @param ip omit it when one client holds the account, as with a session
     * @throws requestErrors.tooMany
     */
    countAccount: (name: LimitName, account: string, ip?: string) => countAccount(name, account, ip),
  };
}
