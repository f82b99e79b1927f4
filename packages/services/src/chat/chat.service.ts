import type { EventBus } from '@tandem/core';
import type { Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import type { FilesService } from '../files/files.service.js';
import type { NotificationsService } from '../notifications/notifications.service.js';
import { createBans } from './bans.js';
import { createBansService } from './bans.service.js';
import { createChangeTeller } from './change-teller.js';
import type { ErasuresService } from '../personal-data/erasures.service.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import { createChatErasure } from './chat-erasure.js';
import { createChannelChanges } from './channel-changes.js';
import { createChannelsService } from './channels.service.js';
import { createDirectChannels } from './direct-channels.js';
import { createMentions } from './mentions.js';
import { createMemberships } from './memberships.js';
import { createMessageFiles } from './message-files.js';
import { createMessageLog } from './message-log.js';
import { createMessageTemplatesService } from './message-templates.service.js';
import { createMessageVersions } from './message-versions.js';
import { createMessagesService } from './messages.service.js';
import { createMutes } from './mutes.js';
import { createPinnedMessages } from './pinned-messages.js';
import { createPins } from './pins.js';
import { createPlaces } from './places.js';
import { createReactionsService } from './reactions.service.js';
import { createReplies } from './replies.js';
import { createReadStatesService } from './read-states.service.js';
import { createReportsService } from './reports.service.js';
import { createSubscriptionsService } from './subscriptions.service.js';

export type ChatService = ReturnType<typeof createChatService>;

interface ChatOptions {
  storage: Storage;
  lists: Lists;
  bus: EventBus;
  files: FilesService;
  /** Those of the given identities that exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
  organizationExists(organizationId: string): Promise<boolean>;
  notifications: NotificationsService;
  identities: Pick<IdentitiesService, 'accessStateOf' | 'staying'>;
  erasures: Pick<ErasuresService, 'alsoBy'>;
}

/** Maximum number of files per message. */
const ATTACHMENTS_MAX = 20;

/** Channels, their members and their messages. Every change is announced to the channel's readers: see `chat-events.ts`. */
export function createChatService(options: ChatOptions) {
  const { storage, lists, bus, files, existingIdentities, organizationExists, notifications, identities, erasures } = options;
  const log = createMessageLog(storage);
  const teller = createChangeTeller(log, bus);
  const mutes = createMutes(storage);
  const bans = createBans(storage);
  const memberships = createMemberships(storage, log, mutes);
  const attachments = files.attachments({
    purpose: 'message-attachment',
    max: ATTACHMENTS_MAX,
    isStored: log.has,
  });
  const replies = createReplies({ storage, teller });
  const mentions = createMentions({ storage, memberships, notifications });
  const pins = createPins({ storage, teller });
  const messageFiles = createMessageFiles({ storage, log, teller, attachments });
  const parts = { memberships, replies, pins, mentions, messageFiles };
  const messages = createMessagesService({ storage, lists, bus, log, teller, ...parts });
  const reactions = createReactionsService({ storage, teller });
  const readStates = createReadStatesService({ storage, lists, bus, memberships, log });
  const icons = files.attachments({ purpose: 'channel-icon', max: 1 });
  const channels = createChannelsService({ storage, lists, teller, existingIdentities, icons, memberships, messages });
  const channelExists = channels.exists;
  const isDirect = async (channelId: string) => (await channels.accessTo(channelId))?.direct === true;
  const direct = createDirectChannels({ storage, teller, channels, bans, existingIdentities });
  const ends = { channelExists, isDirect, existingIdentities };
  const subscriptions = createSubscriptionsService({ storage, lists, teller, memberships, mutes, bans, ...ends });
  const told = { channels, memberships, messages, pins, reactions };
  const changes = createChannelChanges({ storage, bus, log, teller, ...told });
  erasures.alsoBy(createChatErasure({ storage, staying: identities.staying }));
  const templates = createMessageTemplatesService({ storage, lists, organizationExists });

  return {
    channels,
    direct,
    subscriptions,
    memberships,
    messages,
    messageFiles,
    versions: createMessageVersions({ storage, lists }),
    reactions,
    pins,
    pinned: createPinnedMessages({ storage, lists, messages }),
    readStates,
    templates,
    bans: createBansService({ storage, lists, bans, subscriptions, ...ends }),
    reports: createReportsService({ storage, lists }),
    /** The type of an identity that exists. For access rules. */
    typeOf: async (identityId: string) => (await identities.accessStateOf(identityId))?.typeId,

    // for streams
    expectMember: memberships.expectMember,
    expectSpeaker: memberships.expectSpeaker,
    membershipOf: memberships.membershipOf,
    membersAmong: memberships.membersAmong,
    placesOf: createPlaces(storage),
    messagesSince: (channelId: string, seq: number, limit: number) => messages.since(channelId, seq, limit),
    changesSince: changes.since,
    post: messages.post,
    markRead: readStates.markRead,
  };
}
