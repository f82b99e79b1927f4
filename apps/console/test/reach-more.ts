import { reads, type Step, type World } from './reach-world.js';

/** What admins do with channels, messages and tokens outside the chat. */
export function stepsOfMessages({ channel, subscription, report, token }: World): Step[] {
  return [
    reads('chat.listChannels', '/channels'),
    reads('chat.getChannel', `/channels/${channel}`),
    reads('chat.listMessagesOfChannel', `/channels/${channel}?tab=messages`),
    reads('chat.getSubscription', `/subscriptions/${subscription}`),
    reads('chat.listReports', '/reports'),
    reads('chat.getReport', `/reports/${report}`),
    { calls: 'chat.patchReport', at: `/reports/${report}`, press: 'Edit', fill: { Status: 'Resolved' } },
    { calls: 'auth.ottInvalidate', at: '/operations', press: 'Run auth.ottInvalidate', fill: { Token: token } },
    { calls: 'auth.ottRestore', at: '/operations', press: 'Run auth.ottRestore', fill: { Token: token } },
    { calls: 'notifications.unreadCount', at: '/account', menu: 'Count unread notifications' },
  ];
}

/** Pictures and certificates, which are uploaded first. */
export function stepsOfPictures({ tea, shop, own }: World): Step[] {
  const logo = { at: `/organizations/${shop}`, menu: 'Edit everything', fill: { Logo: PICTURE } };
  const avatar = { at: `/profiles/${own}`, press: 'Edit', fill: { Avatar: PICTURE } };
  const certificate = {
    at: `/organizations/${shop}?tab=change-requests`,
    press: 'Request a change',
    fill: { 'Certificate image': PICTURE },
  };
  return [
    { calls: 'organizations.logoUploadUrl', ...logo },
    { calls: 'organizations.certificateUploadUrl', ...certificate },
    { calls: 'profiles.avatarUploadUrl', ...avatar },
    { calls: 'products.imageUploadUrl', at: `/products/${tea}`, drop: PICTURE },
    { calls: 'products.addImage', at: `/products/${tea}`, drop: PICTURE },
    { calls: 'products.removeImage', at: `/products/${tea}`, press: 'Remove picture 1' },
  ];
}

/** What a step types where a file is asked for. */
export const PICTURE = 'picture.png';
