export { TandemError, isError, type ErrorCode } from '@tandem/client';
export { useChannel, useChannels, type Channel, type Channels } from './chat.js';
export { useInfiniteTandemList, type ListPath, type LoadedRows } from './lists.js';
export { useNotifications, type Notifications } from './notifications.js';
export type { PendingMessage } from './outgoing.js';
export { TandemProvider, useTandem, type TandemProviderProps } from './provider.js';
export { useTandemMutation, useTandemQuery } from './queries.js';
export { useSession, type Session } from './session.js';
export type { QueryName, Register, Router, Tandem } from './tandem.js';
