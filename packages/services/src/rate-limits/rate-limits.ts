import { createHmac, hkdfSync } from 'node:crypto';
import { addressGroup, addressNetwork, defineGuard, describeError, requestErrors, type Guard, type Log } from '@tandem/core';
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

const KEY_PREFIX = 'tandem:limit';

/** Rate limits by address and by account (decisions A16). */
export function createRateLimits({ settings, redis, secret, log }: RateLimitsOptions) {
  const limits = limitsOf(settings);
  const hashKey = Buffer.from(hkdfSync('sha256', secret, '', 'tandem rate limits', 32));
  const limiters = new Map<string, RateLimiterAbstract>();

  function createLimiter(keyPrefix: string, [points, duration]: Rate): RateLimiterAbstract {
    const memory = new RateLimiterMemory({ keyPrefix, points, duration });
    if (!redis) return memory;
    return new RateLimiterRedis({
      storeClient: redis.client,
      keyPrefix,
      points,
      duration,
      insuranceLimiter: memory,
      // falls back to memory at once, instead of waiting for a connection
      rejectIfRedisNotReady: true,
    });
  }

  function limiterOf(name: LimitName, kind: Kind): RateLimiterAbstract | undefined {
    const rate = limits[name]?.[kind];
    if (!rate) return undefined;
    const prefix = `${KEY_PREFIX}:${name}:${kind}`;
    const limiter = limiters.get(prefix) ?? createLimiter(prefix, rate);
    limiters.set(prefix, limiter);
    return limiter;
  }

  async function count(name: LimitName, kind: Kind, who: string): Promise<void> {
    const limiter = limiterOf(name, kind);
    if (!limiter) return;
    const key = createHmac('sha256', hashKey).update(who).digest('base64url');
    try {
      await limiter.consume(key);
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes)
        throw requestErrors.tooMany({ retryAfter: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) });
      // a limit that cannot be counted refuses nobody
      log.error({ err: describeError(refusal), limit: name }, 'a rate limit could not be counted');
    }
  }

  function countAccount(name: LimitName, account: string, ip?: string): Promise<void> {
    return count(name, 'perAccount', ip === undefined ? account : `${account} ${addressNetwork(ip)}`);
  }

  return {
    /** Limits a procedure by address. Put it before `.input`, so that a refused request costs no body parsing. */
    address(name: LimitName): Guard<unknown> {
      return defineGuard([requestErrors.tooMany], ({ ctx }) => count(name, 'perAddress', addressGroup(ctx.ip)));
    },

    /**
     * Limits a procedure by account and network, so that nobody can use up another's requests. Put it after `.input`.
     * @param accountOf the account; undefined for none. Known and unknown accounts count alike, so that the answer does not
     * reveal which exist
     */
    account<Input>(name: LimitName, accountOf: (input: Input) => string | undefined): Guard<Input> {
      return defineGuard<Input>([requestErrors.tooMany], async ({ ctx, input }) => {
        const account = accountOf(input);
        if (account !== undefined) await countAccount(name, account, ctx.ip);
      });
    },

    /**
     * Counts for an account that is only known during the work, or when not every request counts. The procedure also needs
     * `address`, which declares the error.
     * @param ip omit it when one client holds the account, as with a session
     * @throws requestErrors.tooMany
     */
    countAccount,
  };
}
