import { builderFor } from './builder.js';
import { describeError } from './error-log.js';
import { ApiError, RETRY_AFTER_UNAVAILABLE, defineErrors, requestErrors, type ErrorDefinition } from './errors.js';
import { factorErrors } from './factors.js';
import { isKept } from './idempotency.js';
import { withDeclaration, type AuthenticatedContext } from './procedures.js';

/** Failures of the rules (spec, "Authorization rules"; decisions A17). */
export const ruleErrors = defineErrors('rules', {
  notSelf: [403, 'Identity ID does not match'],
  invalidOwner: [403, 'Invalid owner ID'],
  notOwner: [403, 'Identity is not the owner of the resource'],
  notAdmin: [403, 'Identity is not authorized to access this resource'],
  notMember: [403, 'Identity is not a member of the organization'],
  notInRole: [403, 'Identity is not authorized to access this organization'],
});

/** What a check receives of the call. */
export interface RuleCall {
  ctx: AuthenticatedContext;
  /** A string of the unvalidated input; undefined when it is missing or of another type. */
  valueOf(key: string): Promise<string | undefined>;
  /** The same for any type, exactly as sent and unvalidated. */
  given(key: string): Promise<unknown>;
}

/** Passes by returning; fails by throwing. */
type Check = (call: RuleCall) => Promise<void> | void;

/** Decides who may call a procedure, before it runs. `allow` turns it into a middleware. */
export interface Rule {
  /** Who passes, as a phrase: `the owner of the channel`. A semicolon joins conditions that must both hold. */
  readonly says: string;
  /** The errors it refuses with. */
  readonly errors: readonly ErrorDefinition[];
  readonly before: Check;
  readonly after?: undefined;
}

/** A rule that is checked, wholly or in part, only after the procedure has failed or did not run: see `inWrite`. */
export interface RuleInWrite extends Omit<Rule, 'after'> {
  readonly after: Check;
}

/** A rule checked before or after the procedure. */
export type AnyRule = Rule | RuleInWrite;

/** @throws TypeError unless all of `rules` are rules: one left out by mistake would let everybody pass */
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

/** Joins the phrases of alternatives: `an admin or the owner of the channel`. */
const ANY = new Intl.ListFormat('en-GB', { type: 'disjunction' });

const trpc = builderFor<AuthenticatedContext>().create();

/** The middlewares of rules that are decided after the procedure, and the same ones that decide before it. */
const early = new WeakMap<object, object>();

/** The middleware that decides a rule wholly before the procedure: for a procedure with something before its handler. */
export function checkedEarly(middleware: object): object {
  return early.get(middleware) ?? middleware;
}

/**
 * Reads one key. On the REST face a path parameter comes from the path alone, so that a rule on it never reads the body
 * (decisions T6).
 */
async function readValue(ctx: AuthenticatedContext, getRawInput: () => Promise<unknown>, key: string): Promise<unknown> {
  const inPath = ctx.rest?.params[key];
  if (inPath !== undefined) return inPath;
  const input = ctx.rest ? await ctx.rest.readInput() : await getRawInput();
  return typeof input === 'object' && input !== null && Object.hasOwn(input, key)
    ? (Reflect.get(input, key) as unknown)
    : undefined;
}

/** Makes the call that a check receives. */
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

/**
 * Runs a check. @throws requestErrors.unavailable when the store is unavailable: the answer is unknown, which is not a
 * refusal (decisions H18)
 */
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
 * @throws TypeError when not given a rule
 */
export function allow(rule: AnyRule) {
  mustBeRules('allow', [rule]);
  const middleware = middlewareOf(rule);
  const { before, after } = rule;
  if (after) {
    const [inOrder] = middlewareOf({ ...rule, before: inTurn([before, after]), after: undefined })._middlewares;
    early.set(middleware._middlewares[0] as object, inOrder as object);
  }
  return middleware;
}

function middlewareOf({ before, after, errors, says }: AnyRule) {
  const middleware = trpc.middleware(async ({ ctx, path, getRawInput, next }) => {
    const call = callOf(ctx, getRawInput);
    await decide(before, call, path);
    const result = await next();
    if (after && (!result.ok || isKept(result))) await decide(after, call, path);
    return result;
  });
  return withDeclaration(middleware, { errors, says });
}

/**
 * Makes a custom rule.
 * @param says who passes, as a phrase: `a member of the channel`
 * @param errors what the check refuses with
 * @param check returns to pass, throws one of `errors` to refuse
 */
export function defineRule(says: string, errors: readonly ErrorDefinition[], check: Check): Rule {
  return { says, errors, before: check };
}

/** The caller is the identity named by the input's `key`. */
export function self(key: string): Rule {
  return defineRule(`the identity that ${key} names`, [ruleErrors.notSelf], async ({ ctx, valueOf }) => {
    if ((await valueOf(key)) !== ctx.identity.id) throw ruleErrors.notSelf();
  });
}

/** The kind of record that an input key names: `product variant` for `productVariantId`. */
function kindOf(key: string): string {
  return key.replace(/Id$/, '').replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
}

/**
 * The caller owns the record named by the input's `key`.
 * @param ownerOf returns the id of a record's owner; null or undefined when the record or its owner is missing
 * @param says who passes, where that is not the owner of a record of the key's kind: `the sender of the message`
 */
export function owner(
  key: string,
  ownerOf: (id: string) => Promise<string | readonly string[] | null | undefined>,
  says = `the owner of the ${kindOf(key)}`,
): Rule {
  return defineRule(says, [ruleErrors.invalidOwner, ruleErrors.notOwner], async ({ ctx, valueOf }) => {
    const id = await valueOf(key);
    const owners = [id === undefined ? '' : await ownerOf(id)].flat().filter((one) => typeof one === 'string' && one !== '');
    if (owners.length === 0) throw ruleErrors.invalidOwner();
    if (!owners.includes(ctx.identity.id)) throw ruleErrors.notOwner();
  });
}

/** The caller is of the configured admin type. */
export const admin: Rule = defineRule('an admin', [ruleErrors.notAdmin], ({ ctx }) => {
  if (ctx.identity.typeId !== ctx.server.typeIds.admin) throw ruleErrors.notAdmin();
});

/** The caller is not a guest: guests may write only to their own account (decisions A8). */
export const notGuest: Rule = defineRule('anybody but a guest', [ruleErrors.notAdmin], ({ ctx }) => {
  if (ctx.identity.typeId === ctx.server.typeIds.guest) throw ruleErrors.notAdmin();
});

/**
 * The caller holds one of `roles` in the organization named by the input's `key`.
 * @param roleOf returns the role of an identity in an organization; undefined for a non-member. It may throw
 * factorErrors.required
 */
export function organizationRole<Role extends string>(
  key: string,
  roles: readonly Role[],
  roleOf: (organizationId: string, identityId: string) => Promise<Role | undefined>,
): Rule {
  return defineRule(
    `${/^[aeiou]/.test(roles[0] ?? '') ? 'an' : 'a'} ${ANY.format(roles)} of the organization`,
    [ruleErrors.notMember, ruleErrors.notInRole, factorErrors.required],
    async ({ ctx, valueOf }) => {
      const organizationId = await valueOf(key);
      const role = organizationId === undefined ? undefined : await roleOf(organizationId, ctx.identity.id);
      if (role === undefined) throw ruleErrors.notMember();
      if (!roles.includes(role)) throw ruleErrors.notInRole();
    },
  );
}

/**
 * Saves a query on success: for a procedure whose every read and write already contains the rule's condition, the rule
 * is checked only when the procedure fails, or is answered for by a kept answer. A refusal then replaces that, as if the
 * rule had been checked first.
 * @throws TypeError when not given a rule, or given one that is already decided in a write
 */
export function inWrite(rule: Rule): RuleInWrite {
  mustBeRules('inWrite', [rule]);
  mustBeAskedFirst('inWrite', [rule]);
  return { ...rule, before: () => {}, after: rule.before };
}

/** `owner` for a procedure whose every read and write filters by the caller as owner: see `inWrite`. */
export function ownerInWrite(...given: Parameters<typeof owner>): RuleInWrite {
  return inWrite(owner(...given));
}

/** Runs the checks in order, awaiting only those that return a promise. */
function inTurn(checks: readonly Check[]): Check {
  return async (call) => {
    for (const check of checks) {
      const asked = check(call);
      if (asked) await asked;
    }
  };
}

/**
 * All of the rules, checked in order. Cheaper than one `.use(...)` each, because tRPC copies a call for each
 * middleware.
 * @throws TypeError when an argument is not a rule
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

/** Whether an error means that a rule could not be decided, as opposed to a refusal or an unreadable request. */
function isUndecided(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}

/**
 * One of the rules must pass; they are checked in order until one does. When none does, the first failure is the answer
 * (spec, "Authorization rules"), unless a rule could not be decided: then that is the answer, because the rule might
 * have passed (decisions H18); or would have passed with a second factor (F5). List `admin` first: it costs nothing.
 * @throws TypeError when an argument is not a rule, or is decided in a write
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
      let lacking: { error: unknown } | undefined;
      for (const { before } of rules) {
        try {
          return await before(call);
        } catch (error) {
          if (isUndecided(error)) undecided ??= { error };
          else if (factorErrors.required.matches(error)) lacking ??= { error };
          else if (error instanceof ApiError && [401, 403].includes(error.status)) refusal ??= { error };
          else throw error;
        }
      }
      throw (undecided ?? lacking ?? refusal)?.error;
    },
  };
}
