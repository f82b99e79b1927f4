import { admin, anyOf, authenticatedRoute, defineRule, notGuest, organizationRole, router, ruleErrors } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { MANAGING_ROLES, isManaging, type OrganizationRole } from '../organizations/roles.js';
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
    createMessageTemplate: authenticatedRoute('POST /message-templates', {
      status: 201,
      summary: 'Create a message template of an organization; admins can create global ones',
      failure: 'Failed to create message template',
      errors: [organizationErrors.notFound],
      allow: [notGuest, anyOf(admin, managesGiven)],
    })
      .input(createMessageTemplateInput)
      .output(MessageTemplateSchema)
      .mutation(({ input }) => templates.create(input)),

    listMessageTemplates: authenticatedRoute('GET /message-templates', {
      summary: 'List all message templates, newest first',
      failure: 'Failed to find message templates',
      errors: [listErrors.invalidNextToken],
      allow: [admin],
    })
      .input(messageTemplateList.input)
      .output(messageTemplateList.output)
      .query(({ ctx, input }) => templates.list(askedBy(ctx, input))),

    listMessageTemplatesOfOrganization: authenticatedRoute('GET /organizations/{organizationId}/message-templates', {
      summary: 'List the message templates of an organization, newest first',
      failure: 'Failed to find message templates',
      errors: [listErrors.invalidNextToken],
      allow: [managesGiven],
    })
      .input(organizationTemplateList.input)
      .output(organizationTemplateList.output)
      .query(({ ctx, input }) => templates.listOfOrganization(input.organizationId, askedBy(ctx, input))),

    getMessageTemplate: authenticatedRoute('GET /message-templates/{messageTemplateId}', {
      summary: 'Read a message template',
      failure: 'Failed to get message template',
      errors: [errors.notFound],
      allow: [manages],
    })
      .input(messageTemplateInput)
      .output(MessageTemplateSchema)
      .query(({ input }) => templates.get(input.messageTemplateId)),

    patchMessageTemplate: authenticatedRoute('PATCH /message-templates/{messageTemplateId}', {
      summary: 'Change a message template',
      failure: 'Failed to update message template',
      errors: [errors.notFoundToChange, errors.nothingToUpdate],
      allow: [notGuest, manages],
    })
      .input(messageTemplatePatchInput)
      .output(MessageTemplateSchema)
      .mutation(({ input: { messageTemplateId, ...patch } }) => templates.patch(messageTemplateId, patch)),

    deleteMessageTemplate: authenticatedRoute('DELETE /message-templates/{messageTemplateId}', {
      status: 204,
      summary: 'Delete a message template',
      failure: 'Failed to delete message template',
      errors: [errors.notFoundToChange],
      allow: [notGuest, manages],
    })
      .input(messageTemplateInput)
      .mutation(({ input }) => templates.delete(input.messageTemplateId)),

    restoreMessageTemplate: authenticatedRoute('POST /message-templates/{messageTemplateId}/restore', {
      summary: 'Restore a deleted message template',
      failure: 'Failed to restore message template',
      errors: [errors.notFoundToChange, organizationErrors.notFound],
      allow: [admin],
    })
      .input(messageTemplateInput)
      .output(MessageTemplateSchema)
      .mutation(({ input }) => templates.restore(input.messageTemplateId)),
  });
}
