import { definePart } from '../shared/define-service.js';
import { createFollowsService } from './follows.service.js';
import { createLikesService } from './likes.service.js';

/** A profile has one avatar at most. */
export const profileAvatars = definePart({
  create: ({ files }) => ({ avatars: files.attachments({ purpose: 'profile-avatar', max: 1 }) }),
});

/** Also shown by organizations, as their followers. */
export const follows = definePart({ needs: [profileAvatars], create: (all) => ({ follows: createFollowsService(all) }) });

/** Also shown by products, as their likers. */
export const likes = definePart({ needs: [profileAvatars], create: (all) => ({ likes: createLikesService(all) }) });
