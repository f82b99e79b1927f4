import type { FieldsOf } from '@tandem/list-query/builder';
import type { z } from 'zod';
import type { eventList, identityEventList } from './audit/audit.schemas.js';
import type { attributeList } from './attributes/attributes.schemas.js';
import type { sessionList } from './authentication/sessions.schemas.js';
import type { categoryList } from './categories/categories.schemas.js';
import type { channelList } from './chat/channels.schemas.js';
import type { messageTemplateList, organizationTemplateList } from './chat/message-templates.schemas.js';
import type { channelMessageList, messageList } from './chat/messages.schemas.js';
import type { subscriptionList } from './chat/subscriptions.schemas.js';
import type { identityList } from './identities/identities.schemas.js';
import type { invitationList } from './invitations/invitations.schemas.js';
import type { locationList } from './locations/locations.schemas.js';
import type { notificationList } from './notifications/notifications.schemas.js';
import type { orderList, organizationOrderList } from './orders/orders.schemas.js';
import type { changeRequestList } from './organizations/change-requests.schemas.js';
import type { descendantList, memberList, membershipList, organizationList } from './organizations/organizations.schemas.js';
import type { productVariantList } from './product-variants/product-variants.schemas.js';
import type { organizationProductList, productList } from './products/products.schemas.js';
import type {
  organizationFollowList,
  organizationFollowerList,
  profileFollowList,
  profileFollowerList,
} from './profiles/follows.schemas.js';
import type { productLikeList, productLikerList } from './profiles/likes.schemas.js';
import type { identityProfileList, profileList } from './profiles/profiles.schemas.js';

/** What a typed query needs to know of a list: `ShapeOf<typeof notificationList>`. */
export interface ShapeOf<List extends { resource: unknown; row: z.ZodType }> {
  fields: FieldsOf<List['resource']>;
  row: z.output<List['row']>;
}

/** What can be asked of each list, by its tRPC path: for the typed queries of clients. */
export interface ListShapes {
  'attributes.list': ShapeOf<typeof attributeList>;
  'auth.events': ShapeOf<typeof eventList>;
  'auth.identityEvents': ShapeOf<typeof identityEventList>;
  'auth.sessions': ShapeOf<typeof sessionList>;
  'categories.list': ShapeOf<typeof categoryList>;
  'chat.listChannels': ShapeOf<typeof channelList>;
  'chat.listMessageTemplates': ShapeOf<typeof messageTemplateList>;
  'chat.listMessageTemplatesOfOrganization': ShapeOf<typeof organizationTemplateList>;
  'chat.listMessages': ShapeOf<typeof messageList>;
  'chat.listMessagesOfChannel': ShapeOf<typeof channelMessageList>;
  'chat.listSubscriptions': ShapeOf<typeof subscriptionList>;
  'identities.list': ShapeOf<typeof identityList>;
  'invitations.list': ShapeOf<typeof invitationList>;
  'locations.list': ShapeOf<typeof locationList>;
  'notifications.list': ShapeOf<typeof notificationList>;
  'orders.list': ShapeOf<typeof orderList>;
  'orders.listOfOrganization': ShapeOf<typeof organizationOrderList>;
  'organizations.list': ShapeOf<typeof organizationList>;
  'organizations.listChangeRequests': ShapeOf<typeof changeRequestList>;
  'organizations.listDescendants': ShapeOf<typeof descendantList>;
  'organizations.listFollowers': ShapeOf<typeof organizationFollowerList>;
  'organizations.listMembers': ShapeOf<typeof memberList>;
  'organizations.listOfIdentity': ShapeOf<typeof membershipList>;
  'productVariants.list': ShapeOf<typeof productVariantList>;
  'products.list': ShapeOf<typeof productList>;
  'products.listLikers': ShapeOf<typeof productLikerList>;
  'products.listOfOrganization': ShapeOf<typeof organizationProductList>;
  'profiles.list': ShapeOf<typeof profileList>;
  'profiles.listFollowers': ShapeOf<typeof profileFollowerList>;
  'profiles.listOfIdentity': ShapeOf<typeof identityProfileList>;
  'profiles.listOrganizationFollows': ShapeOf<typeof organizationFollowList>;
  'profiles.listProductLikes': ShapeOf<typeof productLikeList>;
  'profiles.listProfileFollows': ShapeOf<typeof profileFollowList>;
}
