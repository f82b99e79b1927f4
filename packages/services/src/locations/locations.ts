import { defineService } from '../shared/define-service.js';
import { locationErrors } from './locations.errors.js';
import { createLocationsRouter } from './locations.router.js';
import { locationList } from './locations.schemas.js';

export const locations = defineService({
  name: 'locations',
  router: (services) => createLocationsRouter(services.locations),
  lists: { list: locationList },
  errors: { locations: locationErrors },
});
