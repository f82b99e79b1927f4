export { TandemProvider, useTandem, type TandemProviderProps } from './provider.js';
export { useTandemMutation, useTandemQuery } from './queries.js';
export { useSession, type Session } from './session.js';
export type { QueryName, Register, Router, Tandem } from './tandem.js';
