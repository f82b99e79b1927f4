import { admin, anyOf, defineRule, ruleErrors, type Rule } from '@tandem/core';
import { isManaging, type OrganizationRole } from '../organizations/roles.js';
import { BULK_MAX } from '../shared/schemas.js';
import type { ProductsService } from './products.service.js';

interface ProductRulesOptions {
  products: Pick<ProductsService, 'organizationsOf'>;
  /** The identity's roles by organization, as far as it is a member. */
  rolesOf(organizationIds: readonly string[], identityId: string): Promise<ReadonlyMap<string, OrganizationRole>>;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Access rules for products: admins, and owners and admins of each product's organization, may change them. */
export function createProductRules({ products, rolesOf }: ProductRulesOptions) {
  /** @throws ruleErrors.notAdmin, like all of these rules */
  async function mustManage(identityId: string, organizations: readonly unknown[] | undefined): Promise<void> {
    const distinct = [...new Set(organizations)];
    // more than a valid request can name
    if (distinct.length === 0 || distinct.length > BULK_MAX || !distinct.every(isText)) throw ruleErrors.notAdmin();
    const roles = await rolesOf(distinct, identityId);
    if (!distinct.every((organizationId) => isManaging(roles.get(organizationId)))) throw ruleErrors.notAdmin();
  }
  const orAdmin = (rule: Rule) => anyOf(admin, rule);
  const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

  return {
    /** For the organization of a new product. */
    ofGiven: orAdmin(
      defineRule('an owner or admin of its organization', [ruleErrors.notAdmin], async ({ ctx, given }) => {
        await mustManage(ctx.identity.id, [await given('organizationId')]);
      }),
    ),

    /** For the organizations of new products, listed under this key. */
    ofEachGiven: (key: string) =>
      orAdmin(
        defineRule('an owner or admin of every organization named', [ruleErrors.notAdmin], async ({ ctx, given }) => {
          const many = listOf(await given(key));
          const organizationOf = (one: unknown) =>
            typeof one === 'object' && one !== null ? (Reflect.get(one, 'organizationId') as unknown) : undefined;
          await mustManage(ctx.identity.id, many.map(organizationOf));
        }),
      ),

    /** For the product in the path. */
    ofProduct: orAdmin(
      defineRule("an owner or admin of the product's organization", [ruleErrors.notAdmin], async ({ ctx, valueOf }) => {
        const productId = await valueOf('productId');
        await mustManage(ctx.identity.id, productId === undefined ? [] : await products.organizationsOf([productId]));
      }),
    ),

    /** For all products listed under this key. */
    ofProducts: (key: string) =>
      orAdmin(
        defineRule('an owner or admin of the organization of every product', [ruleErrors.notAdmin], async ({ ctx, given }) => {
          const ids = listOf(await given(key));
          const areIds = ids.length > 0 && ids.length <= BULK_MAX && ids.every(isText);
          await mustManage(ctx.identity.id, areIds ? await products.organizationsOf(ids) : []);
        }),
      ),

    /** Only an admin may change a product's organization, because the product would leave it. */
    keepsOrganization: (key?: string) =>
      orAdmin(
        defineRule('a caller that keeps the organization', [ruleErrors.notAdmin], async ({ given }) => {
          const value = await given(key ?? 'organizationId');
          const isGiven = key === undefined ? value !== undefined : typeof value === 'object' && value !== null && Object.hasOwn(value, 'organizationId'); // prettier-ignore
          if (isGiven) throw ruleErrors.notAdmin();
        }),
      ),
  };
}
export type ProductRules = ReturnType<typeof createProductRules>;
