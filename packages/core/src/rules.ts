import { initTRPC } from '@trpc/server';
import { describeError } from './error-log.js';
import { ApiError, RETRY_AFTER_UNAVAILABLE, defineErrors, requestErrors, type ErrorDefinition } from './errors.js';
import type { Meta } from './operation.js';
import { declaring, type AuthenticatedContext } from './procedures.js';

/** Failures of the rules (spec, "Authorization rules"; decisions A17). */
export const ruleErrors = defineErrors('rules', {
  notSelf: [403, 'Identity ID does not match'],
  invalidOwner: [403, 'Invalid owner ID'],
  notOwner: [403, 'Identity is not the owner of the resource'],
  notAdmin: [403, 'Identity is not authorized to access this resource'],
  notMember: [403, 'Identity is not a member of the organization'],
  notInRole: [403, 'Identity is not authorized to access this organization'],
});

/** What a check is given of the call that it decides on. */
export interface RuleCall {
  ctx: AuthenticatedContext;
  /** A string of the input, before its validation; undefined when it is missing or of another type. */
  valueOf(key: string): Promise<string | undefined>;
  /** The same of any type, as it was sent: nothing is known of it. */
  given(key: string): Promise<unknown>;
}

/** Passes by returning; fails by throwing. */
type Check = (call: RuleCall) => Promise<void> | void;

/** Who may call a procedure, decided before it runs. `allow` makes the middleware of it. */
export interface Rule {
  /** Who passes, as a phrase: `the owner of the channel`. Where a semicolon stands, the caller has to be what both sides say. */
  readonly says: string;
  /** What it refuses with. */
  readonly errors: readonly ErrorDefinition[];
  readonly before: Check;
  readonly after?: undefined;
}

/** A rule that is asked, wholly or in part, only when the procedure has failed: see `inWrite`. */
export interface RuleInWrite extends Omit<Rule, 'after'> {
  readonly after: Check;
}

/** A rule, whenever it is asked. */
export type AnyRule = Rule | RuleInWrite;

/** @throws TypeError when one of `rules` is none: what is left out of a decision lets everybody pass */
function mustBeRules(taker: string, rules: readonly unknown[]): void {
  const isRule = (value: unknown): boolean => {
    const { says, errors, before, after } = (value ?? {}) as Partial<Record<keyof Rule, unknown>>;
    const isAfter = after === undefined || typeof after === 'function';
    return typeof says === 'string' && Array.isArray(errors) && typeof before === 'function' && isAfter;
  };
  if (rules.length === 0 || !rules.every(isRule))
    throw new TypeError(`${taker} takes rules, as made by defineRule; a middleware has a .use of its own`);
}

/** @throws TypeError when one of `rules` is decided in a write, which is too late for the others */
function mustBeAskedFirst(taker: string, rules: readonly AnyRule[]): void {
  if (rules.some(({ after }) => after)) throw new TypeError(`${taker} takes no rule that is decided in a write`);
}

/** Phrases of rules of which one suffices, as one: `an admin or the owner of the channel`. */
const ANY = new Intl.ListFormat('en-GB', { type: 'disjunction' });

const trpc = initTRPC.context<AuthenticatedContext>().meta<Meta>().create();

/** A path parameter on the REST face comes from the path alone, so that no rule over it reads the body (decisions T6). */
async function readValue(ctx: AuthenticatedContext, getRawInput: () => Promise<unknown>, key: string): Promise<unknown> {
  const inPath = ctx.rest?.params[key];
  if (inPath !== undefined) return inPath;
  const input = ctx.rest ? await ctx.rest.readInput() : await getRawInput();
  return typeof input === 'object' && input !== null && Object.hasOwn(input, key)
    ? (Reflect.get(input, key) as unknown)
    : undefined;
}

/** The call that a check is given. */
function callOf(ctx: AuthenticatedContext, getRawInput: () => Promise<unknown>): RuleCall {
  const given = (key: string) => readValue(ctx, getRawInput, key);
  return {
    ctx,
    given,
    async valueOf(key) {
      const value = await given(key);
      return typeof value === 'string' ? value : undefined;
    },
  };
}

/** @throws requestErrors.unavailable where the store is away: nobody knows who may, so nobody is refused (decisions H18) */
async function decide(check: Check, call: RuleCall, procedure: string): Promise<void> {
  try {
    await check(call);
  } catch (error) {
    const { server, log, requestId } = call.ctx;
    if (error instanceof ApiError || !server.isUnavailable(error)) throw error;
    log.error({ err: describeError(error), procedure, requestId }, 'rule could not be decided');
    throw requestErrors.unavailable({ retryAfter: RETRY_AFTER_UNAVAILABLE, cause: error });
  }
}

/**
 * The middleware of a rule, for an authenticated procedure, before its input: `.use(allow(admin))`.
 * @throws TypeError when given no rule
 */
export function allow(rule: AnyRule) {
  mustBeRules('allow', [rule]);
  const { before, after, errors, says } = rule;
  const middleware = trpc.middleware(async ({ ctx, path, getRawInput, next }) => {
    const call = callOf(ctx, getRawInput);
    await decide(before, call, path);
    const result = await next();
    if (after && !result.ok) await decide(after, call, path);
    return result;
  });
  return declaring(middleware, { errors, says });
}

/**
 * Makes a rule of one's own.
 * @param says who passes, as a phrase: `a member of the channel`
 * @param errors what the check refuses with
 * @param check returns to pass, throws one of `errors` to refuse
 */
export function defineRule(says: string, errors: readonly ErrorDefinition[], check: Check): Rule {
  return { says, errors, before: check };
}

/** The caller is the identity that the input's `key` names. */
export function self(key: string): Rule {
  return defineRule(`the identity that ${key} names`, [ruleErrors.notSelf], async ({ ctx, valueOf }) => {
    if ((await valueOf(key)) !== ctx.identity.id) throw ruleErrors.notSelf();
  });
}

/** The kind of record that an input's key names: `product variant` of `productVariantId`. */
function kindOf(key: string): string {
  return key.replace(/Id$/, '').replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
}

/**
 * The caller owns the record that the input's `key` names.
 * @param ownerOf the id of a record's owner; null or undefined when the record or its owner is missing
 * @param says who passes, where that is not the owner of a record of the key's kind: `the sender of the message`
 */
export function owner(
  key: string,
  ownerOf: (id: string) => Promise<string | null | undefined>,
  says = `the owner of the ${kindOf(key)}`,
): Rule {
  return defineRule(says, [ruleErrors.invalidOwner, ruleErrors.notOwner], async ({ ctx, valueOf }) => {
    const id = await valueOf(key);
    const ownerId = id === undefined ? undefined : await ownerOf(id);
    if (typeof ownerId !== 'string' || ownerId === '') throw ruleErrors.invalidOwner();
    if (ownerId !== ctx.identity.id) throw ruleErrors.notOwner();
  });
}

/** The caller is of the configured admin type. */
export const admin: Rule = defineRule('an admin', [ruleErrors.notAdmin], ({ ctx }) => {
  if (ctx.identity.typeId !== ctx.server.typeIds.admin) throw ruleErrors.notAdmin();
});

/** The caller is no guest: a guest has no write access outside its own account (decisions A8). */
export const notGuest: Rule = defineRule('anybody but a guest', [ruleErrors.notAdmin], ({ ctx }) => {
  if (ctx.identity.typeId === ctx.server.typeIds.guest) throw ruleErrors.notAdmin();
});

/**
 * The caller holds one of `roles` in the organization that the input's `key` names.
 * @param roleOf the role of an identity in an organization; undefined when it is no member
 */
export function organizationRole<Role extends string>(
  key: string,
  roles: readonly Role[],
  roleOf: (organizationId: string, identityId: string) => Promise<Role | undefined>,
): Rule {
  return defineRule(
    `${/^[aeiou]/.test(roles[0] ?? '') ? 'an' : 'a'} ${ANY.format(roles)} of the organization`,
    [ruleErrors.notMember, ruleErrors.notInRole],
    async ({ ctx, valueOf }) => {
      const organizationId = await valueOf(key);
      const role = organizationId === undefined ? undefined : await roleOf(organizationId, ctx.identity.id);
      if (role === undefined) throw ruleErrors.notMember();
      if (!roles.includes(role)) throw ruleErrors.notInRole();
    },
  );
}

/**
 * The rule for a procedure that does nothing where the rule would refuse, because its every write and read has the same condition: it is asked
 * only when the procedure fails, and then a refusal comes before the failure, as if it had been asked first. Saves a query where all is well.
 * @throws TypeError when given no rule, or one that is decided in a write already
 */
export function inWrite(rule: Rule): RuleInWrite {
  mustBeRules('inWrite', [rule]);
  mustBeAskedFirst('inWrite', [rule]);
  return { ...rule, before: () => {}, after: rule.before };
}

/** `owner` for a procedure whose every write and read names the caller as the owner: see `inWrite`. */
export function ownerInWrite(...given: Parameters<typeof owner>): RuleInWrite {
  return inWrite(owner(...given));
}

/** One check after the other, without a wait where none is needed. */
function inTurn(checks: readonly Check[]): Check {
  return async (call) => {
    for (const check of checks) {
      const asked = check(call);
      if (asked) await asked;
    }
  };
}

/**
 * All of the rules, asked in turn: as one `.use(...)` each, for less, because tRPC copies a call for each of its middlewares.
 * @throws TypeError when given what is no rule
 */
export function allOf(...rules: [Rule, ...Rule[]]): Rule;
export function allOf(...rules: [AnyRule, ...AnyRule[]]): AnyRule;
export function allOf(...rules: [AnyRule, ...AnyRule[]]): AnyRule {
  mustBeRules('allOf', rules);
  const afters = rules.flatMap(({ after }) => after ?? []);
  const all: Rule = {
    says: rules.map(({ says }) => says).join('; '),
    errors: rules.flatMap(({ errors }) => errors),
    before: inTurn(rules.map(({ before }) => before)),
  };
  return afters.length > 0 ? { ...all, after: inTurn(afters) } : all;
}

/** Whether a thrown error says that a rule could not be decided, as opposed to a refusal and to a request that cannot be read. */
function isUndecided(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}

/**
 * One of the rules suffices. They are asked in turn until one passes. When none does, the first one's failure is the answer
 * (spec, "Authorization rules"), but where one could not be decided that is, because it might have passed (decisions H18).
 * `admin` is always listed first: it costs nothing.
 * @throws TypeError when given what is no rule, or is decided in a write
 */
export function anyOf(...rules: [Rule, ...Rule[]]): Rule {
  mustBeRules('anyOf', rules);
  mustBeAskedFirst('anyOf', rules);
  return {
    says: ANY.format(rules.map(({ says }) => says)),
    errors: rules.flatMap(({ errors }) => errors),
    async before(call) {
      let refusal: { error: unknown } | undefined;
      let undecided: { error: unknown } | undefined;
      for (const { before } of rules) {
        try {
          return await before(call);
        } catch (error) {
          if (isUndecided(error)) undecided ??= { error };
          else if (error instanceof ApiError && [401, 403].includes(error.status)) refusal ??= { error };
          else throw error;
        }
      }
      throw (undecided ?? refusal)?.error;
    },
  };
}
