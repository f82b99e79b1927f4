import { defineService } from '../shared/define-service.js';
import { attributeErrors } from './attributes.errors.js';
import { createAttributesRouter } from './attributes.router.js';
import { attributeList } from './attributes.schemas.js';

export const attributes = defineService({
  name: 'attributes',
  router: (services) => createAttributesRouter(services.attributes),
  lists: { list: attributeList },
  errors: { attributes: attributeErrors },
});
