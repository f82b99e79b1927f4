import { authenticatedRoute, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { actorOf } from '../shared/actor.js';
import { getRoute } from '../shared/record-routes.js';
import { peopleErrors as errors } from './people.errors.js';
import { PeopleSchema, PersonSchema, peopleInput, personInput } from './people.schemas.js';
import type { PeopleService } from './people.service.js';

const person = { one: 'person', output: PersonSchema, idInput: personInput, errors };

/** The cards of people (decisions N1). Who may see one depends on both, so that the service decides. */
export function createPeopleRouter(people: PeopleService) {
  return router({
    get: getRoute(person, 'GET /people/{identityId}', {
      summary: 'Read the name and picture of a person whom one knows',
      mayBeUnchanged: false,
    }).query(({ ctx, input }) => people.get(actorOf(ctx), input.identityId, askedBy(ctx, {}))),

    list: authenticatedRoute('GET /people', {
      summary: 'Read the names and pictures of people: those of the asked whom one knows',
      failure: 'Failed to find people',
    })
      .input(peopleInput)
      .output(PeopleSchema)
      .query(async ({ ctx, input }) => ({ data: await people.list(actorOf(ctx), input.ids, askedBy(ctx, {})) })),
  });
}
