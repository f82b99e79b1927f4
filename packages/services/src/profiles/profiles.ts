import { mergeRouters } from '@tandem/core';
import { defineService } from '../shared/define-service.js';
import { createFollowsRouter } from './follows.router.js';
import { organizationFollowList, profileFollowList, profileFollowerList } from './follows.schemas.js';
import { createLikesRouter } from './likes.router.js';
import { productLikeList } from './likes.schemas.js';
import { profileErrors } from './profiles.errors.js';
import { createProfilesRouter } from './profiles.router.js';
import { identityProfileList, profileList } from './profiles.schemas.js';

export const profiles = defineService({
  name: 'profiles',
  router: ({ profiles: service, follows, likes }) =>
    mergeRouters(
      createProfilesRouter(service),
      createFollowsRouter({ follows, ownerOf: service.ownerOf }),
      createLikesRouter({ likes, ownerOf: service.ownerOf }),
    ),
  lists: {
    list: profileList,
    listFollowers: profileFollowerList,
    listOfIdentity: identityProfileList,
    listOrganizationFollows: organizationFollowList,
    listProductLikes: productLikeList,
    listProfileFollows: profileFollowList,
  },
  errors: { profiles: profileErrors },
});
