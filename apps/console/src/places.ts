import { t } from './texts/texts.js';
import type { IconName } from './ui/icons.js';

export interface Place {
  path: string;
  name: string;
  icon: IconName;
  /** Whether only admins have it. */
  isForAdmins?: boolean;
}

/** The menu: what a kind of record is found under, and the views beside them. */
export const sections = (): readonly (readonly [name: string, places: readonly Place[]])[] => [
  [
    '',
    [
      { path: '/', name: t('ui.places.home'), icon: 'home' },
      { path: '/notifications', name: t('ui.places.notifications'), icon: 'bell' },
      { path: '/chat', name: t('ui.places.chat'), icon: 'chat' },
    ],
  ],
  [
    t('ui.sections.commerce'),
    [
      { path: '/orders', name: t('ui.places.orders'), icon: 'cart' },
      { path: '/products', name: t('ui.places.products'), icon: 'product' },
      { path: '/catalogue', name: t('ui.places.catalogue'), icon: 'chart' },
      { path: '/categories', name: t('ui.places.categories'), icon: 'tree' },
      { path: '/attributes', name: t('ui.places.attributes'), icon: 'fields' },
    ],
  ],
  [
    t('ui.sections.organizations'),
    [
      { path: '/organizations', name: t('ui.places.organizations'), icon: 'organization' },
      { path: '/invitations', name: t('ui.places.invitations'), icon: 'mail', isForAdmins: true },
      { path: '/message-templates', name: t('ui.places.templates'), icon: 'code', isForAdmins: true },
      { path: '/locations', name: t('ui.places.locations'), icon: 'place' },
    ],
  ],
  [
    t('ui.sections.people'),
    [
      { path: '/identities', name: t('ui.places.identities'), icon: 'people', isForAdmins: true },
      { path: '/profiles', name: t('ui.places.profiles'), icon: 'person' },
      { path: '/channels', name: t('ui.places.channels'), icon: 'list', isForAdmins: true },
      { path: '/reports', name: t('ui.places.reports'), icon: 'flag', isForAdmins: true },
    ],
  ],
  [
    t('ui.sections.operation'),
    [
      { path: '/webhooks', name: t('ui.places.webhooks'), icon: 'webhook', isForAdmins: true },
      { path: '/events', name: t('ui.places.events'), icon: 'event', isForAdmins: true },
      { path: '/audit', name: t('ui.places.audit'), icon: 'log', isForAdmins: true },
      { path: '/trash', name: t('ui.places.trash'), icon: 'trash', isForAdmins: true },
      { path: '/operations', name: t('ui.places.operations'), icon: 'code' },
    ],
  ],
  [
    t('ui.sections.you'),
    [
      { path: '/account', name: t('ui.places.account'), icon: 'person' },
      { path: '/security', name: t('ui.places.security'), icon: 'lock' },
      { path: '/sessions', name: t('ui.places.sessions'), icon: 'devices' },
    ],
  ],
];

/** The places of somebody. */
export const placesOf = (isAdmin: boolean): Place[] =>
  sections()
    .flatMap(([, places]) => places)
    .filter(({ isForAdmins = false }) => isAdmin || !isForAdmins);
