import { mergeRouters } from '@tandem/core';
import { defineService } from '../shared/define-service.js';
import { createFollowsRouter } from './follows.router.js';
import { organizationFollowList, profileFollowList, profileFollowerList } from './follows.schemas.js';
import { createLikesRouter } from './likes.router.js';
import { productLikeList } from './likes.schemas.js';
import { follows, likes, profileAvatars } from './profile-parts.js';
import { profileErrors } from './profiles.errors.js';
import { createProfilesRouter } from './profiles.router.js';
import { identityProfileList, profileList } from './profiles.schemas.js';
import { createProfilesService } from './profiles.service.js';

export const profiles = defineService({
  name: 'profiles',
  description: 'Public profiles of identities, whom they follow, and the products they like.',
  needs: [profileAvatars, follows, likes],
  create: (all) => ({ profiles: createProfilesService(all) }),
  router: ({ profiles: service, follows: ofProfiles, likes: liked }) =>
    mergeRouters(
      createProfilesRouter(service),
      createFollowsRouter({ follows: ofProfiles, ownerOf: service.ownerOf }),
      createLikesRouter({ likes: liked, ownerOf: service.ownerOf }),
    ),
  lists: {
    list: profileList,
    listFollowers: profileFollowerList,
    listOfIdentity: identityProfileList,
    listOrganizationFollows: organizationFollowList,
    listProductLikes: productLikeList,
    listProfileFollows: profileFollowList,
  },
  tells: ['profile'],
  errors: { profiles: profileErrors },
});
