import { madeIn } from '../shared/made-records.js';
import { validationError, type Log } from '@tandem/core';
import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { defineDeletion, insertBelow, newId, present, type Storage } from '@tandem/storage';
import { typesIn } from '../events/event-types.js';
import type { EventsService } from '../events/events.service.js';
import type { ErasuresService } from '../personal-data/erasures.service.js';
import type { DomainEvent } from '../events/events.schemas.js';
import type { MailsService } from '../mail/mails.service.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { OrganizationsService } from '../organizations/organizations.service.js';
import { freeNumber } from '../shared/free-numbers.js';
import { givenOf } from '../shared/patching.js';
import { createDeliveries } from './deliveries.js';
import { createDisabling } from './disabling.js';
import { createLines } from './lines.js';
import { createPublicAddresses, type AddressSettings } from './public-addresses.js';
import { createRequests } from './requests.js';
import { createSending } from './sending.js';
import { ROTATED_MS, SECRETS_MAX, newSecret } from './signatures.js';
import { webhookModel, type WebhookRecord } from './webhook.model.js';
import { WEBHOOKS_MAX, webhookErrors as errors } from './webhooks.errors.js';
import {
  namesOf,
  webhookList,
  type NewWebhook,
  type Webhook,
  type WebhookPatch,
  type WebhookWithSecret,
} from './webhooks.schemas.js';
import type { Delivery } from './deliveries.schemas.js';

/** Settings of webhooks. */
export interface WebhookSettings extends Partial<AddressSettings> {
  /** Time for a receiver to answer, in milliseconds. Default 15,000, which is the most. */
  timeoutMs?: number;
}

/** Time for a receiver to answer, in milliseconds (decisions E2). A turn at a webhook, which ends with one, must end before its lease. */
const TIMEOUT_MS = 15_000;

/** What `types` may name besides the types of the log. */
const OTHER_TYPES = new Set(['webhook.disabled', 'webhook.*', '*']);

interface WebhooksOptions {
  storage: Storage;
  lists: Lists;
  log: Log;
  mails: MailsService;
  webhookSettings: WebhookSettings;
  organizations: Pick<OrganizationsService, 'deletionOf'>;
  organizationExists(organizationId: string): Promise<boolean>;
  events: Pick<EventsService, 'byIds'>;
  erasures: Pick<ErasuresService, 'alsoBy'>;
}

export type WebhooksService = ReturnType<typeof createWebhooksService>;

function show(record: WebhookRecord): Webhook {
  const {
    secrets,
    slot,
    disablingId,
    deletionId,
    restoration,
    organizationId = null,
    description = null,
    ...shown
  } = present(record);
  return { ...shown, organizationId, description };
}

/** Webhooks by Standard Webhooks, and what is sent to them (decisions E2). */
export function createWebhooksService(options: WebhooksOptions) {
  const { storage, lists, log, mails, webhookSettings, organizations, organizationExists, events, erasures } = options;
  const { privateAddresses = false, dnsServers, timeoutMs = TIMEOUT_MS } = webhookSettings;
  const Webhooks = storage.model(webhookModel);
  const { clock } = storage;
  const addresses = createPublicAddresses({ privateAddresses, dnsServers });
  const lines = createLines(storage);
  const deliveries = createDeliveries({ storage, lists, lines, byIds: events.byIds });
  erasures.alsoBy({ copies: [deliveries.erase] });
  const deletion = defineDeletion(storage, webhookModel, {
    notFound: errors.notFound,
    parentNotFound: organizationErrors.notFound,
  });
  const disabling = createDisabling({ storage, log, mails, show, dispatch });
  const sending = createSending({
    storage,
    log,
    lines,
    deliveries,
    requests: createRequests(addresses, Math.min(timeoutMs, TIMEOUT_MS)),
    find: async (_id) => (await Webhooks.findOne({ _id, disabledAt: null }).lean<WebhookRecord>()) ?? undefined,
    isAway,
    disable: disabling.disable,
    collect: disabling.tellOfAll,
  });
  const showOne = lists.one(webhookList, show);
  const after = { returnDocument: 'after' } as const;

  /** @throws validationError for types of events that do not exist, and for an address that not everybody can reach */
  async function check({ types = [], url }: Pick<WebhookPatch, 'types' | 'url'>): Promise<void> {
    const ofLog = types.filter((type) => !OTHER_TYPES.has(type));
    const problem = 'must be a type of events such as order.created, order.* or *';
    typesIn(ofLog, lists.kinds(), (type) => `request body/types/${types.indexOf(type)} ${problem}`);
    if (url !== undefined && !(await addresses.maySave(new URL(url))))
      throw validationError(['request body/url must be a public address']);
  }

  /** @throws organizationErrors.notFound */
  async function expectOrganization(organizationId: string | undefined): Promise<void> {
    if (organizationId !== undefined && !(await organizationExists(organizationId))) throw organizationErrors.notFound();
  }

  /** The webhooks that have a number: also those that come back with their organization, a moment after it. */
  async function numberedOf(organizationId: string | undefined): Promise<object> {
    if (organizationId === undefined) return { organizationId: null, deletedAt: null };
    const deletionId = await organizations.deletionOf(organizationId);
    const isReturning = deletionId ? [{ deletionId }] : [];
    return { organizationId, $or: [{ deletedAt: null }, ...isReturning] };
  }

  /** Whether a webhook has gone with its organization, and so comes back with it. */
  async function isAway(_id: string): Promise<boolean> {
    const enabled = { _id, disabledAt: null };
    const found = await Webhooks.findOne(enabled, 'deletionId organizationId', { deleted: 'include' }).lean<WebhookRecord>();
    if (!found?.deletionId || !found.organizationId) return false;
    // one that was deleted by itself carries a deletion of its own
    return (await organizations.deletionOf(found.organizationId)) === found.deletionId;
  }

  /**
   * Queues events for the webhooks that want them. May be repeated: each event is sent once to each, and again only where that
   * fails.
   * @throws when the store cannot be reached; repeat it then
   */
  async function dispatch(events: readonly DomainEvent[]): Promise<void> {
    if (events.length === 0) return;
    const organizationIds = [null, ...events.flatMap(({ organizationId }) => organizationId ?? [])];
    const wanted = {
      disabledAt: null,
      organizationId: { $in: [...new Set(organizationIds)] },
      types: { $in: [...new Set(events.flatMap(({ type }) => namesOf(type)))] },
    };
    const webhooks = await Webhooks.find(wanted, { types: 1, organizationId: 1 }).lean<WebhookRecord[]>();
    const targetsOf = ({ type, organizationId: of }: DomainEvent) =>
      webhooks.filter(
        ({ types, organizationId }) =>
          (!organizationId || organizationId === of) && namesOf(type).some((name) => types.includes(name)),
      );
    const added = await deliveries.add(events.map((event) => [event, targetsOf(event)] as const));
    if (added.length > 0) sending.wake();
  }

  /** @throws errors.notFound, disabled */
  async function findEnabled(_id: string): Promise<WebhookRecord> {
    const record = await Webhooks.findOne({ _id }).lean<WebhookRecord>();
    if (!record) throw errors.notFound();
    if (record.disabledAt) throw errors.disabled();
    return record;
  }

  return {
    dispatch,

    /** Whether there is a webhook that events may be for. */
    async isAnyEnabled(): Promise<boolean> {
      // in the order of the index that has these alone
      const one = await Webhooks.findOne({ disabledAt: null }, { _id: 1 }, { sort: { organizationId: 1 } }).lean();
      return one !== null;
    },

    /** What an earlier attempt to create a webhook has stored; its secret has been shown, or nobody knows it. */
    made: madeIn(Webhooks, show),
    sending,

    /** @throws organizationErrors.notFound, errors.tooMany; validationError as `check` */
    async create(given: NewWebhook, createdBy: string, _id = newId(clock)): Promise<WebhookWithSecret> {
      const { organizationId } = given;
      await expectOrganization(organizationId);
      await check(given);
      const secret = newSecret();
      const fields = { ...given, createdBy, secrets: [{ secret, expiresAt: null }] };
      for (;;) {
        const slot = await freeNumber(Webhooks, 'slot', WEBHOOKS_MAX, await numberedOf(organizationId));
        if (slot === undefined) throw errors.tooMany();
        const record = await insertBelow(Webhooks, { _id, ...fields, slot }, () => expectOrganization(organizationId));
        if (record) return { ...show(record), secret };
        // else another took the number meanwhile
      }
    },

    list(query: ListQuery): Promise<ListAnswer<Webhook>> {
      return lists.answer(webhookList, Webhooks, { show }, query);
    },

    /** @throws errors.notFound */
    get(webhookId: string, query?: ReadQuery): Promise<Webhook> {
      return lists.find(webhookList, Webhooks, { _id: webhookId }, { show }, errors.notFound, query);
    },

    /** The organization of a live webhook, null for none; undefined when there is no such webhook. For access rules. */
    async organizationOf(webhookId: string): Promise<string | null | undefined> {
      const found = await Webhooks.findById(webhookId, { organizationId: 1 }).lean<WebhookRecord>();
      return found && (found.organizationId ?? null);
    },

    /** @throws errors.nothingToUpdate for an empty change, notFound; validationError as `check` */
    async patch(webhookId: string, patch: WebhookPatch): Promise<Webhook> {
      const given = givenOf(patch);
      if (Object.keys(given).length === 0) throw errors.nothingToUpdate();
      if (!(await Webhooks.exists({ _id: webhookId }))) throw errors.notFound();
      await check(given);
      const $set = { ...given, ...(given.disabledAt === null && { disablingId: null }) };
      return showOne(await Webhooks.findByIdAndUpdate(webhookId, { $set }, after).lean<WebhookRecord>(), errors.notFound);
    },

    /** Soft-deletes a webhook. What waits for it is given up. @throws errors.notFound */
    delete: (webhookId: string): Promise<void> => deletion.delete([webhookId]),

    /** Makes a new secret. The former ones sign for a day after their rotation. @throws errors.notFound */
    async rotateSecret(webhookId: string): Promise<WebhookWithSecret> {
      const now = clock.now();
      const secret = newSecret();
      const isLive = { $or: [{ $eq: ['$$this.expiresAt', null] }, { $gt: ['$$this.expiresAt', now] }] };
      const expiresAt = { $ifNull: ['$$this.expiresAt', new Date(now.getTime() + ROTATED_MS)] };
      const former = {
        $map: { input: { $filter: { input: '$secrets', cond: isLive } }, in: { secret: '$$this.secret', expiresAt } },
      };
      const secrets = { $slice: [{ $concatArrays: [[{ secret: { $literal: secret }, expiresAt: null }], former] }, SECRETS_MAX] };
      const update = [{ $set: { secrets, updatedAt: now } }] as never[];
      const record = await Webhooks.findOneAndUpdate({ _id: webhookId }, update, {
        ...after,
        updatePipeline: true,
      }).lean<WebhookRecord>();
      if (!record) throw errors.notFound();
      return { ...show(record), secret };
    },

    /** Sends an event `webhook.test` to a webhook, whatever types it names. @throws errors.notFound, disabled */
    async test(webhookId: string, identityId: string): Promise<Delivery> {
      const webhook = await findEnabled(webhookId);
      const delivery = await deliveries.addOne(webhook, {
        id: newId(clock),
        type: 'webhook.test',
        at: clock.now().toISOString(),
        subject: { type: 'webhook', id: webhookId },
        organizationId: webhook.organizationId ?? null,
        actor: { type: 'identity', id: identityId },
        data: {},
      });
      sending.wake();
      return delivery;
    },

    /** The deliveries of a webhook, kept for 30 days. */
    listDeliveries: (webhookId: string, query: ListQuery): Promise<ListAnswer<Delivery>> => deliveries.list(webhookId, query),

    /** Sends a delivery again at once. @throws errors.notFound, disabled, deliveryNotFound */
    async redeliver(webhookId: string, deliveryId: string): Promise<Delivery> {
      await findEnabled(webhookId);
      const delivery = await deliveries.again(webhookId, deliveryId);
      sending.wake();
      return delivery;
    },
  };
}
