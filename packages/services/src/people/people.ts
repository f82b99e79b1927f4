import { profileAvatars } from '../profiles/profile-parts.js';
import { definePart, defineService } from '../shared/define-service.js';
import { peopleErrors } from './people.errors.js';
import { createPeopleRouter } from './people.router.js';
import { createPeopleService } from './people.service.js';
import { relatePeople } from './related-people.js';

/** Also read where records show people. */
export const personCards = definePart({
  needs: [profileAvatars],
  create(all) {
    const service = createPeopleService(all);
    relatePeople({ ...all, people: service });
    return { people: service };
  },
});

export const people = defineService({
  name: 'people',
  description: 'Names and pictures of people, for those who know them.',
  needs: [personCards],
  router: ({ people: service }) => createPeopleRouter(service),
  lists: {},
  errors: { people: peopleErrors },
});
