import type { IconName } from './ui/icons.js';

export interface Place {
  path: string;
  name: string;
  icon: IconName;
  /** Whether only admins have it. */
  isForAdmins?: boolean;
}

/** The menu: what a kind of record is found under, and the views beside them. */
export const SECTIONS: readonly (readonly [name: string, places: readonly Place[]])[] = [
  [
    '',
    [
      { path: '/', name: 'Home', icon: 'home' },
      { path: '/notifications', name: 'Notifications', icon: 'bell' },
      { path: '/chat', name: 'Chat', icon: 'chat' },
    ],
  ],
  [
    'Commerce',
    [
      { path: '/orders', name: 'Orders', icon: 'cart' },
      { path: '/products', name: 'Products', icon: 'product' },
      { path: '/catalogue', name: 'Catalogue', icon: 'chart' },
      { path: '/categories', name: 'Categories', icon: 'tree' },
      { path: '/attributes', name: 'Attributes', icon: 'fields' },
    ],
  ],
  [
    'Organizations',
    [
      { path: '/organizations', name: 'Organizations', icon: 'organization' },
      { path: '/invitations', name: 'Invitations', icon: 'mail', isForAdmins: true },
      { path: '/message-templates', name: 'Message templates', icon: 'code', isForAdmins: true },
      { path: '/locations', name: 'Locations', icon: 'place' },
    ],
  ],
  [
    'People',
    [
      { path: '/identities', name: 'Identities', icon: 'people', isForAdmins: true },
      { path: '/profiles', name: 'Profiles', icon: 'person' },
      { path: '/channels', name: 'Channels', icon: 'list', isForAdmins: true },
      { path: '/reports', name: 'Reports', icon: 'flag', isForAdmins: true },
    ],
  ],
  [
    'Operation',
    [
      { path: '/webhooks', name: 'Webhooks', icon: 'webhook', isForAdmins: true },
      { path: '/events', name: 'Events', icon: 'event', isForAdmins: true },
      { path: '/audit', name: 'Security events', icon: 'log', isForAdmins: true },
      { path: '/trash', name: 'Trash', icon: 'trash', isForAdmins: true },
      { path: '/operations', name: 'Operations', icon: 'code' },
    ],
  ],
  [
    'You',
    [
      { path: '/account', name: 'Account', icon: 'person' },
      { path: '/security', name: 'Security', icon: 'lock' },
      { path: '/sessions', name: 'Sessions', icon: 'devices' },
    ],
  ],
];

/** The places of somebody. */
export const placesOf = (isAdmin: boolean): Place[] =>
  SECTIONS.flatMap(([, places]) => places).filter(({ isForAdmins = false }) => isAdmin || !isForAdmins);
