/// <reference lib="esnext.disposable" preserve="true" />
export type { MfaInput, PasskeySignInInput, SignInInput, SignUpInput, TokenSignInInput } from './auth-calls.js';
export { applyToOutgoing, type MessageToSend, type OutgoingMessage } from './chat-outbox.js';
export { applyToPins } from './chat-pins.js';
export { createChatClient, type ChannelHandlers, type ChatClient, type ChatClientOptions } from './chat-client.js';
export type { SocketConstructor, SocketLike } from './stream-connection.js';
export {
  applyToChannel,
  applyToChannels,
  applyToMessages,
  applyToWindow,
  joinChannels,
  joinEarlier,
  joinNewest,
  newestFirst,
  readUpTo,
  type ChannelSummary,
  type LoadedMessages,
  type MessageWindow,
} from './chat-state.js';
export type { OwnHandlers } from './chat-own.js';
export type { ChatChange, ChatEvent, ChatMessage, OwnEvent, Reaction, SentMessage, StreamError } from './chat-types.js';
export { createTandemClient, type TandemClient, type TandemClientOptions } from './client.js';
export {
  MfaRequiredError,
  SenderGone,
  TandemError,
  describeFailure,
  isError,
  type ErrorWith,
  type Failure,
  type SecondStep,
} from './failure.js';
export {
  expandOf,
  queriesOf,
  queryOf,
  rowOf,
  rowsOf,
  selectOf,
  type Expansion,
  type ListRows,
  type RouterQueries,
  type Selection,
} from './list-queries.js';
export {
  aggregate,
  and,
  average,
  count,
  countDistinct,
  field,
  filter,
  groupBy,
  listQuery,
  max,
  min,
  not,
  or,
  orderBy,
  sum,
  top,
  type ListQueryBuilder,
  type ListShape,
  type QueryParameters,
  type RowOf,
} from '@tandem/list-query/builder';
export { createMessageLoader, type MessageLoader } from './message-loader.js';
export {
  createNotificationStream,
  type Notification,
  type NotificationStream,
  type NotificationStreamOptions,
} from './notification-stream.js';
export { createPeople, type People, type Person } from './people.js';
export { randomId } from './random-id.js';
export {
  mutationOptions,
  queryKey,
  queryOptions,
  type InputOf,
  type MutationCall,
  type MutationPath,
  type OutputOf,
  type QueryCall,
  type QueryKey,
  type QueryPath,
} from './query-options.js';
export type { AppRouter, ErrorCode, RouterInputs, RouterOutputs } from './router-types.js';
export { createMemoryTokenStore, type MemoryTokenStore, type TokenStore, type Tokens } from './token-store.js';
export type { ClientMode, Fetch } from './transport.js';
export { uploadFile, type UploadOptions, type UploadProcedure, type UploadRequest, type UploadedFile } from './upload.js';
export { UploadError } from './upload-error.js';
export { versionOf } from './versions.js';
