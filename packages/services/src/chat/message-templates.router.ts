import { admin, anyOf, defineRule, notGuest, organizationRole, router, ruleErrors } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { MANAGING_ROLES, isManaging, type OrganizationRole } from '../organizations/roles.js';
import { createRoute, deleteRoute, getRoute, listRoute, patchRoute, restoreRoute } from '../shared/record-routes.js';
import { messageTemplateErrors as errors } from './message-templates.errors.js';
import {
  MessageTemplateSchema,
  createMessageTemplateInput,
  messageTemplateInput,
  messageTemplateList,
  messageTemplatePatchInput,
  organizationTemplateList,
} from './message-templates.schemas.js';
import type { MessageTemplatesService } from './message-templates.service.js';

interface MessageTemplatesRouterOptions {
  templates: MessageTemplatesService;
  roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined>;
}

const template = {
  one: 'message template',
  many: 'message templates',
  output: MessageTemplateSchema,
  list: messageTemplateList,
  idInput: messageTemplateInput,
  errors,
};
const changed = { ...template, errors: { ...errors, notFound: errors.notFoundToChange } };

/**
 * The message template routes of the spec ("Other services"). Only admins manage global templates; owners and admins of an
 * organization manage its templates.
 */
export function createMessageTemplatesRouter({ templates, roleOf }: MessageTemplatesRouterOptions) {
  const managesGiven = organizationRole('organizationId', MANAGING_ROLES, roleOf);
  const managesItsOrganization = defineRule(
    "an owner or admin of the template's organization",
    [ruleErrors.notInRole],
    async ({ ctx, valueOf }) => {
      const messageTemplateId = await valueOf('messageTemplateId');
      const organizationId = messageTemplateId && (await templates.organizationOf(messageTemplateId));
      const role = organizationId ? await roleOf(organizationId, ctx.identity.id) : undefined;
      if (!isManaging(role)) throw ruleErrors.notInRole();
    },
  );
  const manages = anyOf(admin, managesItsOrganization);

  return router({
    createMessageTemplate: createRoute(template, 'POST /message-templates', createMessageTemplateInput, {
      summary: 'Create a message template of an organization; admins can create global ones',
      made: templates.made,
      errors: [organizationErrors.notFound],
      allow: [notGuest, anyOf(admin, managesGiven)],
    }).mutation(({ ctx, input }) => templates.create(input, ctx.newId?.())),

    listMessageTemplates: listRoute(template, 'GET /message-templates', messageTemplateList, {
      summary: 'List all message templates, newest first',
      allow: [admin],
    }).query(({ ctx, input }) => templates.list(askedBy(ctx, input))),

    listMessageTemplatesOfOrganization: listRoute(
      template,
      'GET /organizations/{organizationId}/message-templates',
      organizationTemplateList,
      {
        summary: 'List the message templates of an organization, newest first',
        allow: [managesGiven],
      },
    ).query(({ ctx, input }) => templates.listOfOrganization(input.organizationId, askedBy(ctx, input))),

    getMessageTemplate: getRoute(template, 'GET /message-templates/{messageTemplateId}', { allow: [manages] }).query(
      ({ input }) => templates.get(input.messageTemplateId, input),
    ),

    patchMessageTemplate: patchRoute(changed, 'PATCH /message-templates/{messageTemplateId}', messageTemplatePatchInput, {
      allow: [notGuest, manages],
    }).mutation(({ input: { messageTemplateId, ...patch } }) => templates.patch(messageTemplateId, patch)),

    deleteMessageTemplate: deleteRoute(changed, 'DELETE /message-templates/{messageTemplateId}', {
      allow: [notGuest, manages],
    }).mutation(({ input }) => templates.delete(input.messageTemplateId)),

    restoreMessageTemplate: restoreRoute(changed, 'POST /message-templates/{messageTemplateId}/restore', {
      errors: [organizationErrors.notFound],
    }).mutation(({ input }) => templates.restore(input.messageTemplateId)),
  });
}
