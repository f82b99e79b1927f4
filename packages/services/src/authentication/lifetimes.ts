/** Lifetimes in milliseconds. */
export interface Lifetimes {
  access: number;
  refresh: number;
  onetime: number;
  /** Maximum age of a session since its sign-in. */
  session: number;
  invitation: number;
  provider: number;
}
