import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer } from '../test/core-server.js';
import {
  admin,
  allOf,
  allow,
  anyOf,
  authenticated,
  defineGuard,
  defineRule,
  factorErrors,
  inWrite,
  notGuest,
  organizationRole,
  owner,
  requestErrors,
  router,
  ruleErrors,
  self,
  type AnyRule,
  type Rule,
} from './index.js';

const nobodys = () => Promise.resolve(undefined);
const guard = defineGuard([], () => {});
/** Passes off a value that the types would refuse. */
const untyped = (value: unknown): Rule => value as Rule;

describe('functions that take rules', () => {
  const takers = { allow, inWrite, anyOf: (rule: Rule) => anyOf(admin, rule), allOf: (rule: Rule) => allOf(admin, rule) };

  it.each(Object.entries(takers))('%s throws when given something other than a rule', (name, take) => {
    const { says, errors, before } = admin;
    const none = [guard, allow(admin), before, undefined, null, 'admin', {}, { errors, before }, { says, before }, { says, errors }, { says, errors, before, after: 1 }]; // prettier-ignore
    for (const value of none) expect(() => take(untyped(value))).toThrow(new RegExp(`^${name} takes rules`));
    expect(() => take({ says, errors, before })).not.toThrow();
  });

  it('anyOf and allOf throw without arguments', () => {
    const noRules = [] as unknown as [Rule];
    for (const take of [anyOf, allOf] as ((...rules: [Rule]) => Rule)[]) expect(() => take(...noRules)).toThrow(TypeError);
  });

  it('anyOf and inWrite take no rule that is decided in a write, by type and at run time', () => {
    const late = inWrite(owner('id', nobodys));
    const text = 'takes no rule that is decided in a write';
    // @ts-expect-error -- decided too late for the others
    expect(() => anyOf(admin, late)).toThrow(`anyOf ${text}`);
    // @ts-expect-error -- part of it is decided too late
    expect(() => anyOf(admin, allOf(notGuest, late))).toThrow(`anyOf ${text}`);
    // @ts-expect-error -- its early part would run late
    expect(() => inWrite(allOf(notGuest, late))).toThrow(`inWrite ${text}`);
    expect(allOf(notGuest, late).after).toBeTypeOf('function');
  });

  it('the types refuse a middleware for allow, anyOf, allOf and inWrite', () => {
    // @ts-expect-error -- a guard is a middleware already
    expect(() => allow(guard)).toThrow(TypeError);
    // @ts-expect-error -- ignored in the decision, it would let everybody pass
    expect(() => anyOf(guard)).toThrow(TypeError);
    // @ts-expect-error -- likewise
    expect(() => allOf(admin, guard)).toThrow(TypeError);
    // @ts-expect-error -- likewise
    expect(() => inWrite(guard)).toThrow(TypeError);
  });
});

describe('a rule says who passes', () => {
  it.each<[() => Rule, string]>([
    [() => admin, 'an admin'],
    [() => self('identityId'), 'the identity that identityId names'],
    [() => owner('productVariantId', nobodys), 'the owner of the product variant'],
    [() => owner('listIdeaId', nobodys), 'the owner of the list idea'],
    [() => owner('messageId', nobodys, 'the sender of the message'), 'the sender of the message'],
    [() => organizationRole('organizationId', ['owner', 'admin'], nobodys), 'an owner or admin of the organization'],
    [() => organizationRole('organizationId', ['member'], nobodys), 'a member of the organization'],
    [() => anyOf(admin, self('senderId'), owner('channelId', nobodys)), 'an admin, the identity that senderId names or the owner of the channel'], // prettier-ignore
    [() => allOf(notGuest, self('senderId')), 'anybody but a guest; the identity that senderId names'],
    [() => anyOf(admin, allOf(notGuest, self('id'))), 'an admin or anybody but a guest; the identity that id names'],
  ])('%#', (ruleOf, phrase) => {
    expect(ruleOf().says).toBe(phrase);
  });
});

describe('a rule declares what it refuses with', () => {
  const { notSelf, invalidOwner, notOwner, notAdmin, notMember, notInRole } = ruleErrors;
  it.each<[string, () => AnyRule, unknown[]]>([
    ['self', () => self('id'), [notSelf]],
    ['owner', () => owner('id', nobodys), [invalidOwner, notOwner]],
    ['organizationRole', () => organizationRole('id', ['owner'], nobodys), [notMember, notInRole, factorErrors.required]],
    ['anyOf, that of each', () => anyOf(admin, self('id')), [notAdmin, notSelf]],
    ['allOf, that of each', () => allOf(notGuest, self('id')), [notAdmin, notSelf]],
    ['inWrite, that of its rule', () => inWrite(self('id')), [notSelf]],
  ])('%s', (_name, ruleOf, errors) => {
    expect(ruleOf().errors).toEqual(errors);
  });
});

describe('a procedure with a rule', () => {
  const asked: string[] = [];
  const ownerOf = (id: string) => {
    asked.push(id);
    return Promise.resolve({ mine: 'ann', his: 'bob', empty: '' }[id]);
  };
  const failing = () => defineRule('nobody', [], () => Promise.reject(requestErrors.unexpected()));
  const unreadable = () => defineRule('nobody', [], () => Promise.reject(requestErrors.invalid()));

  /** What the callers get from a procedure with the rule, by their tokens. */
  async function answers(rule: AnyRule, input: unknown, ...tokens: string[]): Promise<unknown[]> {
    const ask = authenticated.use(allow(rule)).output(z.void()).mutation(() => {}); // prettier-ignore
    await using served = await startCoreServer(router({ ask }));
    const got = [];
    for (const token of tokens) {
      const headers = { authorization: `Bearer ${token}` };
      const { status, body } = await served.ask('POST', '/trpc/ask', { headers, body: JSON.stringify(input) });
      got.push(status === 200 ? 'passes' : (body as { error: { message: string } }).error.message);
    }
    return got;
  }

  it('notGuest admits anybody but a guest', async () => {
    expect(await answers(notGuest, {}, 'ann', 'root', 'visitor')).toEqual(['passes', 'passes', ruleErrors.notAdmin.message]);
  });

  it('owner refuses a record whose owner is empty, and input that is no object', async () => {
    asked.length = 0;
    const rule = owner('id', ownerOf);
    for (const input of [{ id: 'empty' }, null, 'mine', 5, ['mine']])
      expect(await answers(rule, input, 'ann')).toEqual([ruleErrors.invalidOwner.message]);
    expect(asked).toEqual(['empty']);
  });

  it('organizationRole refuses a missing organization as one without the caller, and asks for no role', async () => {
    asked.length = 0;
    const roleOf = (id: string) => {
      asked.push(id);
      return Promise.resolve('owner' as const);
    };
    const rule = organizationRole('id', ['owner'], roleOf);
    expect(await answers(rule, {}, 'ann')).toEqual([ruleErrors.notMember.message]);
    expect(asked).toEqual([]);
    expect(await answers(rule, { id: 'a' }, 'ann')).toEqual(['passes']);
  });

  it('allOf admits who passes all of them, and asks none after a refusal', async () => {
    asked.length = 0;
    const rule = allOf(notGuest, owner('id', ownerOf));
    expect(await answers(rule, { id: 'mine' }, 'ann', 'visitor')).toEqual(['passes', ruleErrors.notAdmin.message]);
    expect(await answers(rule, { id: 'his' }, 'ann', 'bob')).toEqual([ruleErrors.notOwner.message, 'passes']);
    expect(asked).toEqual(['mine', 'his', 'his']);
  });

  it('anyOf asks on after a failure, which is the answer when no other passes, but not after an unreadable request', async () => {
    expect(await answers(anyOf(failing(), admin), {}, 'root', 'ann')).toEqual(['passes', requestErrors.unexpected.message]);
    expect(await answers(anyOf(admin, failing()), {}, 'root', 'ann')).toEqual(['passes', requestErrors.unexpected.message]);
    expect(await answers(anyOf(unreadable(), admin), {}, 'root')).toEqual([requestErrors.invalid.message]);
  });
});
