import { initTRPC } from '@trpc/server';
import { ApiError, defineErrors, type ErrorDefinition } from './errors.js';
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

interface RuleCall {
  ctx: AuthenticatedContext;
  /** A string of the input, before its validation; undefined when it is missing or of another type. */
  valueOf(key: string): Promise<string | undefined>;
  /** The same of any type, as it was sent: nothing is known of it. */
  given(key: string): Promise<unknown>;
}

/** Passes by returning; fails by throwing. */
type Check = (call: RuleCall) => Promise<void> | void;

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

/** What a rule asks before the procedure, and what it asks only when the procedure has failed. */
interface Definition {
  before: Check;
  after?: Check | undefined;
  errors: readonly ErrorDefinition[];
}
const definitions = new WeakMap<object, Definition>();

function toMiddleware(definition: Definition) {
  const { before, after, errors } = definition;
  const rule = trpc.middleware(async ({ ctx, getRawInput, next }) => {
    const call = callOf(ctx, getRawInput);
    await before(call);
    const result = await next();
    if (after && !result.ok) await after(call);
    return result;
  });
  declaring(rule, errors);
  definitions.set(rule, definition);
  return rule;
}

function definitionsOf(rules: readonly Rule[]): Definition[] {
  return rules.map((rule) => definitions.get(rule)).filter((definition) => definition !== undefined);
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

/** A rule of an authenticated procedure, for `.use(...)` before `.input(...)`. */
export type Rule = ReturnType<typeof toMiddleware>;

/**
 * Makes a rule of one's own.
 * @param check returns to pass, throws one of `errors` to refuse
 */
export function defineRule(errors: readonly ErrorDefinition[], check: Check): Rule {
  return toMiddleware({ before: check, errors });
}

/** The caller is the identity that the input's `key` names. */
export function self(key: string): Rule {
  return defineRule([ruleErrors.notSelf], async ({ ctx, valueOf }) => {
    if ((await valueOf(key)) !== ctx.identity.id) throw ruleErrors.notSelf();
  });
}

/**
 * The caller owns the record that the input's `key` names.
 * @param ownerOf the id of a record's owner; null or undefined when the record or its owner is missing
 */
export function owner(key: string, ownerOf: (id: string) => Promise<string | null | undefined>): Rule {
  return defineRule([ruleErrors.invalidOwner, ruleErrors.notOwner], async ({ ctx, valueOf }) => {
    const id = await valueOf(key);
    const ownerId = id === undefined ? undefined : await ownerOf(id);
    if (typeof ownerId !== 'string' || ownerId === '') throw ruleErrors.invalidOwner();
    if (ownerId !== ctx.identity.id) throw ruleErrors.notOwner();
  });
}

/**
 * A rule of a procedure that does nothing where the rule would refuse, because its every write and read has the same condition: it is asked
 * only when the procedure fails, and then a refusal comes before the failure, as if it had been asked first. Saves a query where all is well.
 */
export function inWrite(rule: Rule): Rule {
  const { before: after, errors } = definitions.get(rule) ?? { before: () => {}, errors: [] };
  return toMiddleware({ before: () => {}, after, errors });
}

/** All of the rules, asked in turn: as one `.use(...)` each, for less, because tRPC copies a call for each of its middlewares. */
export function allOf(...rules: [Rule, ...Rule[]]): Rule {
  const parts = definitionsOf(rules);
  const afters = parts.flatMap(({ after }) => after ?? []);
  return toMiddleware({
    before: inTurn(parts.map(({ before }) => before)),
    after: afters.length > 0 ? inTurn(afters) : undefined,
    errors: parts.flatMap(({ errors }) => errors),
  });
}

/** `owner` for a procedure whose every write and read names the caller as the owner: see `inWrite`. */
export function ownerInWrite(key: string, ownerOf: (id: string) => Promise<string | null | undefined>): Rule {
  return inWrite(owner(key, ownerOf));
}

/** The caller is of the configured admin type. */
export const admin: Rule = defineRule([ruleErrors.notAdmin], ({ ctx }) => {
  if (ctx.identity.typeId !== ctx.server.typeIds.admin) throw ruleErrors.notAdmin();
});

/** The caller is no guest: a guest has no write access outside its own account (decisions A8). */
export const notGuest: Rule = defineRule([ruleErrors.notAdmin], ({ ctx }) => {
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
  return defineRule([ruleErrors.notMember, ruleErrors.notInRole], async ({ ctx, valueOf }) => {
    const organizationId = await valueOf(key);
    const role = organizationId === undefined ? undefined : await roleOf(organizationId, ctx.identity.id);
    if (role === undefined) throw ruleErrors.notMember();
    if (!roles.includes(role)) throw ruleErrors.notInRole();
  });
}

/** Whether a thrown error means "this rule refuses", as opposed to a request that cannot be read. */
function isRefusal(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 401 || error.status === 403 || error.status >= 500;
}

/**
 * One of the rules suffices. They are asked in turn until one passes; when none does, the first one's failure is the answer
 * (spec, "Authorization rules"). `admin` is always listed first: it costs nothing.
 */
export function anyOf(...rules: [Rule, ...Rule[]]): Rule {
  const parts = definitionsOf(rules);
  return defineRule(
    parts.flatMap((part) => part.errors),
    async (call) => {
      let first: { error: unknown } | undefined;
      for (const { before } of parts) {
        try {
          return await before(call);
        } catch (error) {
          if (!isRefusal(error)) throw error;
          first ??= { error };
        }
      }
      if (first) throw first.error;
    },
  );
}
