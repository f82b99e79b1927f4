export { addressGroup, addressNetwork, unmapped } from './address-group.js';
export { createBefore, type Before, type BeforeCall, type BeforeHook, type BeforeHooks, type DeclaredBefore } from './before.js';
export { createBodyPace } from './body-pace.js';
export { toEnvelope, type ErrorEnvelope } from './answer.js';
export { answeredBy, type Answered } from './answered.js';
export { atMost } from './at-most.js';
export {
  ACCESS_COOKIE,
  FINGERPRINT_HEADER,
  FINGERPRINT_MAX_LENGTH,
  REFRESH_COOKIE,
  authenticate,
  authenticationErrors,
  checkFingerprint,
  checkOrigin,
  hashFingerprint,
  originErrors,
  readBearer,
  readFingerprint,
} from './authentication.js';
export {
  createRequestContext,
  type AuthMode,
  type CookiePrefix,
  type Clock,
  type Identity,
  type IdentityTypeIds,
  type Log,
} from './context.js';
export type { CallerKey, RequestContext, ServerFacts, VerifiedAccess } from './context.js';
export { withDeadline } from './deadline.js';
export { describeError, type LoggedError } from './error-log.js';
export {
  ApiError,
  ERROR_CODE_HEADER,
  defineErrors,
  requestErrors,
  unexpectedError,
  validationError,
  type CodesOf,
  type ErrorDefinition,
  type ErrorFactory,
} from './errors.js';
export { MFA_REQUIRED, checkFactor, factorErrors, requiresFactor, type MfaRequired } from './factors.js';
export { defineGuard, type Guard } from './guards.js';
export { hangUp } from './hang-up.js';
export { IDEMPOTENCY_KEY, answerOnce, takesKey, type Attempt, type KeptAnswers, type KeyedCall } from './idempotency.js';
export { KEY_PREFIX, checkScopes, isNamedBy, keyErrors, type ScopedProcedure } from './keys.js';
export { limitUnread } from './unread-answers.js';
export { createInProcessBus, type EventBus } from './events.js';
export { operationsOf, rest, scopedProcedures, serviceOf, type DescribedHeader, type Meta, type Operation } from './operation.js';
export { authenticated, mergeRouters, optionalCaller, publicProcedure, router, type AuthenticatedContext } from './procedures.js';
export { withOtherSchemas } from './remade-router.js';
export { isAuthenticated, type AuthenticatedRequest } from './rest/is-authenticated.js';
export { createErrorMiddlewares, mountRest } from './rest/mount.js';
export { createOpenApiDocument, errorsOf, whoOf, type OpenApiOptions } from './rest/openapi.js';
export type {
  Header as OpenApiHeader,
  OpenApiDocument,
  Parameter as OpenApiParameter,
  Response as OpenApiResponse,
} from './rest/openapi-types.js';
export { IF_MATCH, conditional, tagged } from './preconditions.js';
export { authenticatedRoute, publicRoute, type AuthenticatedRouteOptions } from './routes.js';
export { createTrpcFace } from './trpc/mount.js';
export { createTrpcStream } from './trpc/stream.js';
export {
  admin,
  anyOf,
  defineRule,
  allOf,
  allow,
  inWrite,
  notGuest,
  organizationRole,
  owner,
  ownerInWrite,
  ruleErrors,
  self,
  type AnyRule,
  type Rule,
  type RuleCall,
  type RuleInWrite,
} from './rules.js';
export { createAccessWatch, type AccessWatch, type Watched } from './streams/access-watch.js';
export { CLOSE, PROTOCOL_CLOSE, type CloseReason } from './streams/close-codes.js';
export { Feed, createFeeds, textOf, type Feeds, type Reader } from './streams/feed.js';
export { IteratorReader, type ReaderSocket } from './streams/iterator-reader.js';
export { SocketReader } from './streams/socket-reader.js';
export { ErrorFrame, PingFrame, PongFrame, errorFrameOf } from './streams/stream-handler.js';
export { createStreamPlaces, type StreamConnection, type StreamLimits, type StreamPlaces } from './streams/stream-places.js';
export { createStreamServer, type Handshake, type Opening, type Stream, type StreamServer } from './streams/stream-server.js';
export type { StreamCounts, StreamHandler, StreamSocket } from './streams/stream-socket.js';
export { validationTexts, type InputPlaces } from './validation-texts.js';
export { SECRET_MIN_BYTES, deriveKey } from './tokens/keys.js';
export { TokenError, type TokenClaims, type TokenType } from './tokens/claims.js';
export { createTokens, type Tokens } from './tokens/tokens.js';
