import { defineService } from '../shared/define-service.js';
import { locationErrors } from './locations.errors.js';
import { createLocationsRouter } from './locations.router.js';
import { locationList } from './locations.schemas.js';
import { createLocationsService } from './locations.service.js';

export const locations = defineService({
  name: 'locations',
  description: 'A tree of places, from organizations to buildings.',
  create: (all) => ({ locations: createLocationsService(all) }),
  router: ({ locations: service }) => createLocationsRouter(service),
  lists: { list: locationList },
  tells: ['location'],
  errors: { locations: locationErrors },
});
