import { describe, expect, it } from 'vitest';
import { admin, allOf, allow, anyOf, defineGuard, inWrite, notGuest, organizationRole, owner, self, type Rule } from './index.js';

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
  it.each<[Rule, string]>([
    [admin, 'an admin'],
    [self('identityId'), 'the identity that identityId names'],
    [owner('productVariantId', nobodys), 'the owner of the product variant'],
    [owner('messageId', nobodys, 'the sender of the message'), 'the sender of the message'],
    [organizationRole('organizationId', ['owner', 'admin'], nobodys), 'an owner or admin of the organization'],
    [anyOf(admin, self('senderId'), owner('channelId', nobodys)), 'an admin, the identity that senderId names or the owner of the channel'], // prettier-ignore
    [allOf(notGuest, self('senderId')), 'anybody but a guest; the identity that senderId names'],
  ])('%#', ({ says }, phrase) => {
    expect(says).toBe(phrase);
  });
});
