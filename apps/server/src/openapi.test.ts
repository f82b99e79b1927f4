import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { errorsOf, operationsOf, type OpenApiDocument } from '@tandem/core';
import { describedOperations, fixture, resolveReference, resolveSchema, startTestServer, type JsonSchema } from '@tandem/testing';
import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, it } from 'vitest';

const app = fixture(startTestServer);
let document: OpenApiDocument;
beforeAll(async () => {
  document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
});

/** The whole interface: procedure, route, success status (spec, "Endpoints"; decisions T7). */
const OPERATIONS = [
  ['attributes.create', 'POST /attributes', 201],
  ['attributes.list', 'GET /attributes', 200],
  ['attributes.get', 'GET /attributes/{attributeId}', 200],
  ['attributes.patch', 'PATCH /attributes/{attributeId}', 200],
  ['attributes.delete', 'DELETE /attributes/{attributeId}', 204],
  ['attributes.restore', 'POST /attributes/{attributeId}/restore', 200],
  ['categories.create', 'POST /categories', 201],
  ['categories.list', 'GET /categories', 200],
  ['categories.get', 'GET /categories/{categoryId}', 200],
  ['categories.patch', 'PATCH /categories/{categoryId}', 200],
  ['categories.delete', 'DELETE /categories/{categoryId}', 204],
  ['categories.enable', 'POST /categories/{categoryId}/enable', 204],
  ['categories.disable', 'POST /categories/{categoryId}/disable', 204],
  ['categories.restore', 'POST /categories/{categoryId}/restore', 200],
  ['chat.createListenTicket', 'POST /messages/listen/tickets', 201],
  ['chat.createChannel', 'POST /channels', 201],
  ['chat.listChannels', 'GET /channels', 200],
  ['chat.getChannel', 'GET /channels/{channelId}', 200],
  ['chat.patchChannel', 'PATCH /channels/{channelId}', 200],
  ['chat.deleteChannel', 'DELETE /channels/{channelId}', 204],
  ['chat.restoreChannel', 'POST /channels/{channelId}/restore', 200],
  ['chat.channelIconUploadUrl', 'GET /channels/{channelId}/icon-upload-url', 200],
  ['chat.listMessagesOfChannel', 'GET /channels/{channelId}/messages', 200],
  ['chat.readState', 'GET /channels/{channelId}/read-state', 200],
  ['chat.markRead', 'PUT /channels/{channelId}/read-state', 204],
  ['chat.createSubscription', 'POST /subscriptions', 201],
  ['chat.listSubscriptions', 'GET /subscriptions', 200],
  ['chat.getSubscription', 'GET /subscriptions/{subscriptionId}', 200],
  ['chat.deleteSubscription', 'DELETE /subscriptions/{subscriptionId}', 204],
  ['chat.createMessage', 'POST /messages', 201],
  ['chat.listMessages', 'GET /messages', 200],
  ['chat.getMessage', 'GET /messages/{messageId}', 200],
  ['chat.patchMessage', 'PATCH /messages/{messageId}', 200],
  ['chat.deleteMessage', 'DELETE /messages/{messageId}', 204],
  ['chat.restoreMessage', 'POST /messages/{messageId}/restore', 200],
  ['chat.attachmentUploadUrl', 'GET /messages/{messageId}/attachment-upload-url', 200],
  ['chat.addAttachment', 'POST /messages/{messageId}/attachments', 201],
  ['chat.removeAttachment', 'DELETE /messages/{messageId}/attachments/{attachmentId}', 204],
  ['chat.createMessageTemplate', 'POST /message-templates', 201],
  ['chat.listMessageTemplates', 'GET /message-templates', 200],
  ['chat.listMessageTemplatesOfOrganization', 'GET /organizations/{organizationId}/message-templates', 200],
  ['chat.getMessageTemplate', 'GET /message-templates/{messageTemplateId}', 200],
  ['chat.patchMessageTemplate', 'PATCH /message-templates/{messageTemplateId}', 200],
  ['chat.deleteMessageTemplate', 'DELETE /message-templates/{messageTemplateId}', 204],
  ['chat.restoreMessageTemplate', 'POST /message-templates/{messageTemplateId}/restore', 200],
  ['auth.register', 'POST /auth/register', 201],
  ['auth.login', 'POST /auth/login', 200],
  ['auth.logout', 'POST /auth/logout', 204],
  ['auth.refreshToken', 'POST /auth/token/refresh', 200],
  ['auth.checkToken', 'POST /auth/token/check', 200],
  ['auth.mfaVerify', 'POST /auth/mfa/verify', 200],
  ['auth.mfaResend', 'POST /auth/mfa/resend', 200],
  ['auth.ottLogin', 'POST /auth/ott/login', 200],
  ['auth.ottGenerate', 'POST /auth/ott/generate', 201],
  ['auth.ottRestore', 'POST /auth/ott/restore', 204],
  ['auth.ottInvalidate', 'POST /auth/ott/invalidate', 204],
  ['auth.sendVerificationEmail', 'POST /auth/{identityId}/send-verification-email', 204],
  ['auth.confirmEmail', 'POST /auth/confirm-email', 204],
  ['auth.changeEmail', 'PATCH /auth/{identityId}/change-email', 204],
  ['auth.confirmNewEmail', 'POST /auth/confirm-new-email', 204],
  ['auth.sendResetPasswordLinkEmail', 'POST /auth/send-reset-password-link-email', 204],
  ['auth.resetPassword', 'POST /auth/reset-password', 204],
  ['auth.changePassword', 'PATCH /auth/{identityId}/change-password', 204],
  ['auth.activate', 'POST /auth/activate', 204],
  ['auth.deactivate', 'POST /auth/deactivate', 204],
  ['auth.deleteRefreshTokens', 'DELETE /auth/{identityId}/refresh-tokens', 204],
  ['auth.sessions', 'GET /auth/{identityId}/sessions', 200],
  ['auth.deleteSession', 'DELETE /auth/{identityId}/sessions/{sessionId}', 204],
  ['auth.events', 'GET /auth/events', 200],
  ['auth.identityEvents', 'GET /auth/{identityId}/events', 200],
  ['auth.startOauth', 'GET /auth/oauth/{provider}', 302],
  ['auth.finishOauth', 'GET /auth/oauth/{provider}/callback', 302],
  ['auth.linkProvider', 'POST /auth/{identityId}/oauth/{provider}', 200],
  ['auth.listProviders', 'GET /auth/{identityId}/oauth', 200],
  ['auth.unlinkProvider', 'DELETE /auth/{identityId}/oauth/{provider}', 204],
  ['identities.list', 'GET /identities', 200],
  ['identities.get', 'GET /identities/{identityId}', 200],
  ['identities.patch', 'PATCH /identities/{identityId}', 200],
  ['identities.delete', 'DELETE /identities/{identityId}', 204],
  ['identities.restore', 'POST /identities/{identityId}/restore', 200],
  ['identities.lock', 'POST /identities/{identityId}/lock', 204],
  ['identities.unlock', 'POST /identities/{identityId}/unlock', 204],
  ['invitations.create', 'POST /invitations', 201],
  ['invitations.list', 'GET /invitations', 200],
  ['invitations.get', 'GET /invitations/{invitationId}', 200],
  ['invitations.delete', 'DELETE /invitations/{invitationId}', 204],
  ['invitations.accept', 'POST /invitations/accept', 204],
  ['notifications.createListenTicket', 'POST /notifications/listen/tickets', 201],
  ['notifications.markRead', 'POST /notifications/{notificationId}/read', 204],
  ['notifications.list', 'GET /notifications/identities/{identityId}', 200],
  ['notifications.unreadCount', 'GET /notifications/identities/{identityId}/unread-count', 200],
  ['notifications.markReadUpTo', 'POST /notifications/identities/{identityId}/read', 204],
  ['notifications.restore', 'POST /notifications/{notificationId}/restore', 200],
  ['locations.create', 'POST /locations', 201],
  ['locations.list', 'GET /locations', 200],
  ['locations.get', 'GET /locations/{locationId}', 200],
  ['locations.patch', 'PATCH /locations/{locationId}', 200],
  ['locations.delete', 'DELETE /locations/{locationId}', 204],
  ['locations.restore', 'POST /locations/{locationId}/restore', 200],
  ['orders.create', 'POST /orders', 201],
  ['orders.list', 'GET /orders', 200],
  ['orders.listOfOrganization', 'GET /orders/organizations/{organizationId}', 200],
  ['orders.get', 'GET /orders/{orderId}', 200],
  ['orders.patch', 'PATCH /orders/{orderId}', 200],
  ['orders.cancel', 'POST /orders/{orderId}/cancel', 200],
  ['orders.delete', 'DELETE /orders/{orderId}', 204],
  ['orders.restore', 'POST /orders/{orderId}/restore', 200],
  ['organizations.create', 'POST /organizations', 201],
  ['organizations.list', 'GET /organizations', 200],
  ['organizations.get', 'GET /organizations/{organizationId}', 200],
  ['organizations.patch', 'PATCH /organizations/{organizationId}', 200],
  ['organizations.patchAsAdmin', 'PATCH /admin/organizations/{organizationId}', 200],
  ['organizations.move', 'PUT /organizations/{organizationId}/parent', 200],
  ['organizations.listDescendants', 'GET /organizations/{organizationId}/descendants', 200],
  ['organizations.delete', 'DELETE /organizations/{organizationId}', 204],
  ['organizations.restore', 'POST /organizations/{organizationId}/restore', 200],
  ['organizations.logoUploadUrl', 'GET /organizations/{organizationId}/logo-upload-url', 200],
  ['organizations.certificateUploadUrl', 'GET /organizations/{organizationId}/certificate-upload-url', 200],
  ['organizations.listMembers', 'GET /organizations/{organizationId}/members', 200],
  ['organizations.upsertMembers', 'PATCH /organizations/{organizationId}/members', 204],
  ['organizations.removeMember', 'DELETE /organizations/{organizationId}/members/{identityId}', 204],
  ['organizations.memberRole', 'GET /organizations/{organizationId}/members/{identityId}/role', 200],
  ['organizations.isMember', 'GET /organizations/{organizationId}/members/check-existence', 200],
  ['organizations.listOfIdentity', 'GET /organizations/members/{identityId}', 200],
  ['profiles.create', 'POST /profiles', 201],
  ['profiles.list', 'GET /profiles', 200],
  ['profiles.avatarUploadUrl', 'GET /profiles/{profileId}/avatar-upload-url', 200],
  ['profiles.get', 'GET /profiles/{profileId}', 200],
  ['profiles.patch', 'PATCH /profiles/{profileId}', 200],
  ['profiles.delete', 'DELETE /profiles/{profileId}', 204],
  ['profiles.restore', 'POST /profiles/{profileId}/restore', 200],
  ['profiles.listOfIdentity', 'GET /profiles/identities/{identityId}', 200],
  ['profiles.likeProduct', 'PUT /profiles/{profileId}/product-likes/{likeProductId}', 201],
  ['profiles.unlikeProduct', 'DELETE /profiles/{profileId}/product-likes/{likeProductId}', 204],
  ['profiles.listProductLikes', 'GET /profiles/{profileId}/product-likes', 200],
  ['products.listLikers', 'GET /products/{productId}/likers', 200],
  ['profiles.followProfile', 'PUT /profiles/{profileId}/profile-follows/{followProfileId}', 204],
  ['profiles.unfollowProfile', 'DELETE /profiles/{profileId}/profile-follows/{followProfileId}', 204],
  ['profiles.listProfileFollows', 'GET /profiles/{profileId}/profile-follows', 200],
  ['profiles.listFollowers', 'GET /profiles/{profileId}/followers', 200],
  ['profiles.followOrganization', 'PUT /profiles/{profileId}/organization-follows/{followOrganizationId}', 204],
  ['profiles.unfollowOrganization', 'DELETE /profiles/{profileId}/organization-follows/{followOrganizationId}', 204],
  ['profiles.listOrganizationFollows', 'GET /profiles/{profileId}/organization-follows', 200],
  ['organizations.requestChange', 'POST /organizations/{organizationId}/change-requests', 201],
  ['organizations.listChangeRequests', 'GET /organizations/{organizationId}/change-requests', 200],
  ['organizations.approveChange', 'POST /organizations/{organizationId}/change-requests/{changeRequestId}/approve', 200],
  ['organizations.rejectChange', 'POST /organizations/{organizationId}/change-requests/{changeRequestId}/reject', 200],
  ['organizations.listFollowers', 'GET /organizations/{organizationId}/followers', 200],
  ['products.create', 'POST /products', 201],
  ['products.list', 'GET /products', 200],
  ['products.listOfOrganization', 'GET /products/organizations/{organizationId}', 200],
  ['products.get', 'GET /products/{productId}', 200],
  ['products.patch', 'PATCH /products/{productId}', 200],
  ['products.delete', 'DELETE /products/{productId}', 204],
  ['products.copy', 'POST /products/{productId}/copy', 201],
  ['products.restore', 'POST /products/{productId}/restore', 200],
  ['products.createMany', 'POST /products/batch', 201],
  ['products.patchMany', 'PATCH /products/batch', 200],
  ['products.deleteMany', 'DELETE /products/batch', 204],
  ['products.copyMany', 'POST /products/batch/copy', 201],
  ['products.imageUploadUrl', 'GET /products/{productId}/image-upload-url', 200],
  ['products.addImage', 'POST /products/{productId}/images', 201],
  ['products.removeImage', 'DELETE /products/{productId}/images/{imageId}', 204],
  ['productVariants.create', 'POST /products/{productId}/variants', 201],
  ['productVariants.list', 'GET /products/{productId}/variants', 200],
  ['productVariants.get', 'GET /products/{productId}/variants/{productVariantId}', 200],
  ['productVariants.patch', 'PATCH /products/{productId}/variants/{productVariantId}', 200],
  ['productVariants.delete', 'DELETE /products/{productId}/variants/{productVariantId}', 204],
  ['productVariants.restore', 'POST /products/{productId}/variants/{productVariantId}/restore', 200],
  ['productVariants.createMany', 'POST /product/{productId}/variants/bulk', 201],
  ['productVariants.patchMany', 'PATCH /product/{productId}/variants/bulk', 200],
  ['productVariants.deleteMany', 'POST /product/{productId}/variants/bulk-delete', 204],
] as const;

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate({ ...structuredClone(document) })).toMatchObject({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('is lean: at most 2,200 bytes an operation, and 40 kB compressed', () => {
    const text = JSON.stringify(document);
    expect(text.length / OPERATIONS.length).toBeLessThan(2200);
    expect(gzipSync(text).length).toBeLessThan(40_000);
  });

  it('has exactly the operations of the interface, named by their tRPC paths, with their true success status', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, responses }]) => {
        const success = Object.keys(responses).find((status) => /^[23]/.test(status));
        return [operationId, `${method.toUpperCase()} ${path}`, Number(success)];
      }),
    );
    expect(new Set(described.map(String))).toEqual(new Set(OPERATIONS.map(String)));
    expect(described).toHaveLength(OPERATIONS.length);
  });

  it('has every error that an operation declares, under its status, in the envelope', () => {
    for (const operation of operationsOf(app.tandem.router)) {
      const responses = document.paths[operation.path]?.[operation.method.toLowerCase()]?.responses ?? {};
      for (const { status, message } of errorsOf(operation)) {
        const response = responses[status];
        if (!response) throw new Error(`${operation.name} has no ${status}`);
        // 503 may have the text of 500
        const texts = [resolveReference(document, response), status === 503 ? responses[500]?.description : ''];
        expect(JSON.stringify(texts)).toContain(JSON.stringify(message).slice(1, -1));
      }
    }
  });

  it('requires the bearer token exactly where a caller must be known, and reads it elsewhere only if it may be given', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const withSecurity = (security: object[]) =>
      operations.filter((one) => isDeepStrictEqual(one.security, security)).map(({ operationId }) => operationId);
    const optional = ['auth.confirmNewEmail', 'auth.logout', 'auth.resetPassword'];
    expect(withSecurity([{ bearer: [] }, {}]).toSorted()).toEqual(optional);
    const open = [...withSecurity([]), ...optional];
    expect(open.length + withSecurity([{ bearer: [] }]).length).toBe(operations.length);
    expect(open.toSorted()).toEqual(
      [
        'attributes.get',
        'attributes.list',
        'categories.get',
        'categories.list',
        'locations.get',
        'locations.list',
        'products.get',
        'products.list',
        'productVariants.list',
        'auth.checkToken',
        'auth.confirmEmail',
        'auth.confirmNewEmail',
        'auth.login',
        'auth.logout',
        'auth.mfaResend',
        'auth.mfaVerify',
        'auth.ottLogin',
        'auth.refreshToken',
        'auth.register',
        'auth.resetPassword',
        'auth.sendResetPasswordLinkEmail',
        'auth.startOauth',
        'auth.finishOauth',
      ].toSorted(),
    );
  });

  it('has the fingerprint as an optional header, exactly where it may be refused', () => {
    for (const { name, parameters, method, path } of describedOperations(document)) {
      const mayBeRefused = JSON.stringify(resolveReference(document, document.paths[path]?.[method]?.responses['422'] ?? {})).includes('x-nb-fingerprint header'); // prettier-ignore
      expect(
        parameters.some((one) => one.name === 'x-nb-fingerprint' && !one.required),
        name,
      ).toBe(mayBeRefused);
    }
  });

  it('describes every service, operation, parameter and property of a body', () => {
    const bare: string[] = document.tags.flatMap(({ name, description }) => (description ? [] : [name]));
    const visit = (schema: JsonSchema, where: string) => {
      const { properties = {}, items, anyOf = [], allOf = [] } = resolveSchema(document, schema);
      for (const [name, property] of Object.entries(properties)) {
        if (!resolveSchema(document, property).description) bare.push(`${where}.${name}`);
        visit(property, `${where}.${name}`);
      }
      for (const inner of [...anyOf, ...allOf, ...(items ? [items] : [])]) visit(inner, where);
    };
    for (const { name, path, method, body, parameters } of describedOperations(document)) {
      const { summary, description } = document.paths[path]?.[method] ?? {};
      if (!summary || !/^Who may call it: \w/.test(description ?? '')) bare.push(name);
      for (const one of parameters) {
        // a list without relations has nothing to expand
        const hasExample = one.example !== undefined || (one.name === '$expand' && one.schema.description?.includes('none'));
        if (!one.schema.description || !hasExample) bare.push(`${name} ${one.name}`);
      }
      if (body) visit(body, name);
    }
    expect(bare).toEqual([]);
  });

  it('requires the cookie in cookie mode', async () => {
    await using cookies = await startTestServer({ authModes: { auth: 'cookie', identities: 'cookie', notifications: 'bearer' } });
    const { paths } = (await (await fetch(`${cookies.url}/openapi.json`)).json()) as OpenApiDocument;
    expect(paths['/identities']?.get?.security).toEqual([{ cookie: [] }]);
    expect(paths['/notifications/{notificationId}/read']?.post?.security).toEqual([{ bearer: [] }]);
  });

  it('allows no unknown fields in bodies, and never shows a password', () => {
    const body = document.paths['/auth/register']?.post?.requestBody;
    expect(body).toMatchObject({ required: true, content: { 'application/json': { schema: { additionalProperties: false, required: ['password'] } } } }); // prettier-ignore
    expect(JSON.stringify(document.components.schemas)).not.toMatch(/"\w*(password|sessionEpoch)\w*":/i);
  });
});
