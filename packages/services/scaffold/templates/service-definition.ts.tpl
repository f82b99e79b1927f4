import { defineService } from '../shared/define-service.js';
import { {{one}}Errors } from './{{files}}.errors.js';
import { create{{Many}}Router } from './{{files}}.router.js';
import { {{one}}List } from './{{files}}.schemas.js';
import { create{{Many}}Service } from './{{files}}.service.js';

export const {{many}} = defineService({
  name: '{{many}}',
  description: 'The {{plural}}.',
  create: (all) => ({ {{many}}: create{{Many}}Service(all) }),
  router: ({ {{many}}: service }) => create{{Many}}Router(service),
  lists: { list: {{one}}List },
  tells: ['{{one}}'],
  errors: { '{{plural}}': {{one}}Errors },
});
