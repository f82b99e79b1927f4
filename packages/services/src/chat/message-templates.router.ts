import {
  admin,
  allow,
  anyOf,
  authenticated,
  defineRule,
  notGuest,
  organizationRole,
  rest,
  router,
  ruleErrors,
} from '@tandem/core';
import { z } from 'zod';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { MANAGING_ROLES, type OrganizationRole } from '../organizations/roles.js';
import { askedBy } from '../shared/asked-by.js';
import { listErrors } from '../shared/lists.errors.js';
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
      if (!MANAGING_ROLES.some((managing) => managing === role)) throw ruleErrors.notInRole();
    },
  );
  const manages = anyOf(admin, managesItsOrganization);

  return router({
    createMessageTemplate: authenticated
      .meta(
        rest('POST /message-templates', {
          status: 201,
          summary: 'Create a message template of an organization; admins can create global ones',
          failure: 'Failed to create message template',
          errors: [organizationErrors.notFound],
        }),
      )
      .use(allow(notGuest))
      .use(allow(anyOf(admin, managesGiven)))
      .input(createMessageTemplateInput)
      .output(MessageTemplateSchema)
      .mutation(({ input }) => templates.create(input)),

    listMessageTemplates: authenticated
      .meta(
        rest('GET /message-templates', {
          summary: 'List all message templates, newest first',
          failure: 'Failed to find message templates',
          errors: [listErrors.invalidNextToken],
        }),
      )
      .use(allow(admin))
      .input(messageTemplateList.input)
      .output(messageTemplateList.output)
      .query(({ ctx, input }) => templates.list(askedBy(ctx, input))),

    listMessageTemplatesOfOrganization: authenticated
      .meta(
        rest('GET /organizations/{organizationId}/message-templates', {
          summary: 'List the message templates of an organization, newest first',
          failure: 'Failed to find message templates',
          errors: [listErrors.invalidNextToken],
        }),
      )
      .use(allow(managesGiven))
      .input(organizationTemplateList.input)
      .output(organizationTemplateList.output)
      .query(({ ctx, input }) => templates.listOfOrganization(input.organizationId, askedBy(ctx, input))),

    getMessageTemplate: authenticated
      .meta(
        rest('GET /message-templates/{messageTemplateId}', {
          summary: 'Read a message template',
          failure: 'Failed to get message template',
          errors: [errors.notFound],
        }),
      )
      .use(allow(manages))
      .input(messageTemplateInput)
      .output(MessageTemplateSchema)
      .query(({ input }) => templates.get(input.messageTemplateId)),

    patchMessageTemplate: authenticated
      .meta(
        rest('PATCH /message-templates/{messageTemplateId}', {
          summary: 'Change a message template',
          failure: 'Failed to update message template',
          errors: [errors.notFoundToChange, errors.nothingToUpdate],
        }),
      )
      .use(allow(notGuest))
      .use(allow(manages))
      .input(messageTemplatePatchInput)
      .output(MessageTemplateSchema)
      .mutation(({ input: { messageTemplateId, ...patch } }) => templates.patch(messageTemplateId, patch)),

    deleteMessageTemplate: authenticated
      .meta(
        rest('DELETE /message-templates/{messageTemplateId}', {
          status: 204,
          summary: 'Delete a message template',
          failure: 'Failed to delete message template',
          errors: [errors.notFoundToChange],
        }),
      )
      .use(allow(notGuest))
      .use(allow(manages))
      .input(messageTemplateInput)
      .output(z.void())
      .mutation(({ input }) => templates.delete(input.messageTemplateId)),

    restoreMessageTemplate: authenticated
      .meta(
        rest('POST /message-templates/{messageTemplateId}/restore', {
          summary: 'Restore a deleted message template',
          failure: 'Failed to restore message template',
          errors: [errors.notFoundToChange, organizationErrors.notFound],
        }),
      )
      .use(allow(admin))
      .input(messageTemplateInput)
      .output(MessageTemplateSchema)
      .mutation(({ input }) => templates.restore(input.messageTemplateId)),
  });
}
