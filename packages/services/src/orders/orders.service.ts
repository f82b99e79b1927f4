import { ruleErrors, validationError } from '@tandem/core';
import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { newId, present, type Storage } from '@tandem/storage';
import { identityErrors } from '../identities/identities.errors.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { isManaging, type OrganizationRole } from '../organizations/roles.js';
import { productVariantErrors } from '../product-variants/product-variants.errors.js';
import type { LinePrice } from '../products/price-lines.js';
import { productErrors } from '../products/products.errors.js';
import type { Actor } from '../shared/actor.js';
import { changeRecord, hasOwnData, refusePrivate, withoutPrivate } from '../shared/changes.js';
import { madeIn } from '../shared/made-records.js';
import { givenOf } from '../shared/patching.js';
import { computeAmounts, inWholeUnits, type CataloguePrice } from './order-amounts.js';
import { LEADING_TO } from './order-states.js';
import { orderModel, type OrderRecord } from './order.model.js';
import { orderErrors as errors } from './orders.errors.js';
import { orderList, organizationOrderList, type NewOrder, type Order, type OrderPatch } from './orders.schemas.js';

export type OrdersService = ReturnType<typeof createOrdersService>;

interface OrdersOptions {
  storage: Storage;
  lists: Lists;
  existingIdentities(ids: readonly string[]): Promise<ReadonlySet<string>>;
  organizations: {
    nameOf(organizationId: string): Promise<string | undefined>;
    roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined>;
  };
  /** The catalogue's answer for each line, in order. */
  priceOf(lines: NewOrder['items']): Promise<LinePrice[]>;
}

/** An order, as it was read. */
function showRead(record: OrderRecord): Order {
  const { metadata = {}, ...order } = inWholeUnits(present(record));
  return { ...order, metadata };
}

/** The same, as everybody may see it who sees it. */
const show = (record: OrderRecord): Order => showRead(withoutPrivate(record));

/** The data of the buyer's, admin's or host's own. */
function ownDataOf({ metadata, privateMetadata, hostFields }: NewOrder): Partial<OrderRecord> {
  return { ...(metadata && { metadata }), ...(privateMetadata && { privateMetadata }), ...(hostFields && { hostFields }) };
}

/** @throws productErrors.notFound, productVariantErrors.notFound */
function cataloguePriceOf(line: LinePrice): CataloguePrice | null {
  if (line.missing !== null) throw (line.missing === 'product' ? productErrors : productVariantErrors).notFound();
  return line.price && { ...line.price, source: line.source };
}

/**
 * The organization of an order: its products' as of now, else the one named.
 * @throws validationError for products of two organizations, or if another organization is named (decisions H17)
 */
function organizationOf({ organizationId: named }: NewOrder, lines: readonly LinePrice[]): string | null {
  const [ofLines, ...others] = new Set(lines.flatMap((line) => (line.missing === null ? (line.organizationId ?? []) : [])));
  if (others.length > 0) throw validationError(['request body/items must be of one organization']);
  if (ofLines !== undefined && named !== undefined && named !== ofLines)
    throw validationError(['request body/organizationId must be that of the products']);
  return ofLines ?? named ?? null;
}

/** Orders (decisions R5, R6). Ids are UUID strings; nothing here depends on HTTP. */
export function createOrdersService({ storage, lists, existingIdentities, organizations, priceOf }: OrdersOptions) {
  const Orders = storage.model(orderModel);
  const shownTo = (isAdmin: boolean) => lists.one(orderList, isAdmin ? showRead : show);
  lists.tell('order', orderList, { show: showRead });

  async function checkNames({ identityId, organizationId }: NewOrder): Promise<void> {
    const [people, organization] = await Promise.all([
      existingIdentities([identityId]),
      organizationId === undefined ? '' : organizations.nameOf(organizationId),
    ]);
    if (!people.has(identityId)) throw identityErrors.notFound();
    if (organization === undefined) throw organizationErrors.notFound();
  }

  async function isManager({ organizationId }: OrderRecord, { identityId, isAdmin }: Actor): Promise<boolean> {
    if (isAdmin) return true;
    const role = organizationId === null ? undefined : await organizations.roleOf(organizationId, identityId);
    return isManaging(role);
  }

  return {
    /** The buyer of an order; undefined when it is missing. For the owner rule. */
    async buyerOf(orderId: string): Promise<string | undefined> {
      return (await Orders.findById(orderId, { identityId: 1 }).lean<OrderRecord>())?.identityId;
    },

    /** The organization of an order; null if it has none, undefined when the order is missing. */
    async organizationOf(orderId: string): Promise<string | null | undefined> {
      const found = await Orders.findById(orderId, { organizationId: 1 }).lean<OrderRecord>();
      return found ? (found.organizationId ?? null) : undefined;
    },

    /**
     * Creates an order with amounts computed by the server.
     * @throws organizationErrors.notFound, the errors of products, variants and identities; validationError for organizations,
     * amounts and `privateMetadata` of others than admins
     */
    async create(given: NewOrder, actor: Actor, id = newId(storage.clock)): Promise<Order> {
      refusePrivate(given, actor.isAdmin);
      const [prices] = await Promise.all([priceOf(given.items), checkNames(given)]);
      const cataloguePrices = prices.map(cataloguePriceOf);
      const organizationId = organizationOf(given, prices);
      const amounts = computeAmounts(given, cataloguePrices);
      const now = storage.clock.now();
      const order: OrderRecord = {
        _id: id,
        identityId: given.identityId,
        organizationId,
        ...amounts,
        status: 'pending',
        ...ownDataOf(given),
        history: [{ status: 'pending', at: now, identityId: actor.identityId }],
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      };
      await Orders.create(order);
      return showRead(order);
    },

    made: (anId: () => string, isAdmin: boolean): Promise<Order | undefined> =>
      madeIn(Orders, (record) => shownTo(isAdmin)(record, errors.notFound))(anId),

    /** The orders of one identity, or all. */
    list(identityId: string | undefined, query: ListQuery): Promise<ListAnswer<Order>> {
      return lists.answer(
        orderList,
        Orders,
        { ...(identityId !== undefined && { scope: { identityId } }), show: showRead },
        query,
      );
    },

    listOfOrganization(organizationId: string, query: ListQuery): Promise<ListAnswer<Order>> {
      return lists.answer(organizationOrderList, Orders, { scope: { organizationId }, show: showRead }, query);
    },

    /** @throws errors.notFound */
    async get(orderId: string, query?: ReadQuery): Promise<Order> {
      return lists.find(orderList, Orders, { _id: orderId }, { show: showRead }, errors.notFound, query);
    },

    /**
     * Moves an order to a state, and changes metadata, by one conditional write, so that of two concurrent moves one is refused.
     * The buyer may only cancel; admins, and owners and admins of its organization, may make every change.
     * @throws errors.notFound, cannotMove, nothingToUpdate for an empty change; ruleErrors.notAdmin; validationError for too many
     * keys of metadata
     */
    async patch(orderId: string, patch: OrderPatch, actor: Actor): Promise<Order> {
      const set = givenOf(patch);
      const { status } = set;
      refusePrivate(set, actor.isAdmin);
      if (Object.keys(set).length === 0) throw errors.nothingToUpdate();
      const before = await Orders.findById(orderId).lean<OrderRecord>();
      if (!before) throw errors.notFound();
      const isOwnCancel = status === 'cancelled' && before.identityId === actor.identityId && !hasOwnData(set);
      if (!isOwnCancel && !(await isManager(before, actor))) throw ruleErrors.notAdmin();
      const now = storage.clock.now();
      const move = status && { status, at: now, identityId: actor.identityId };
      const changed = await changeRecord(
        Orders,
        { _id: orderId, ...(status && { status: { $in: LEADING_TO[status] } }) },
        { ...set, updatedAt: now },
        move ? [{ $set: { history: { $concatArrays: [{ $ifNull: ['$history', []] }, [{ $literal: move }]] } } }] : [],
        { timestamps: false },
      );
      if (changed) return shownTo(actor.isAdmin)(changed, errors.notFound);
      const current = await Orders.findById(orderId, { status: 1 }).lean<OrderRecord>();
      if (!current || !status) throw errors.notFound();
      throw errors.cannotMove({ from: current.status, to: status });
    },

    /** Soft-deletes an order. @throws errors.notFound */
    async delete(orderId: string): Promise<void> {
      const { deletedCount } = await Orders.deleteOne({ _id: orderId });
      if (deletedCount === 0) throw errors.notFound();
    },

    /** @throws errors.notFound when there is nothing to restore */
    async restore(orderId: string): Promise<Order> {
      return shownTo(false)(await Orders.restore(orderId), errors.notFound);
    },
  };
}
