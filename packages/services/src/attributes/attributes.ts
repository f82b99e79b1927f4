import { defineService } from '../shared/define-service.js';
import { attributeErrors } from './attributes.errors.js';
import { createAttributesRouter } from './attributes.router.js';
import { attributeList } from './attributes.schemas.js';
import { createAttributesService } from './attributes.service.js';

export const attributes = defineService({
  name: 'attributes',
  description: 'Groups of keys and values that products share, such as sizes and materials.',
  create: (all) => ({ attributes: createAttributesService(all) }),
  router: ({ attributes: service }) => createAttributesRouter(service),
  lists: { list: attributeList },
  tells: ['attribute'],
  errors: { attributes: attributeErrors },
});
