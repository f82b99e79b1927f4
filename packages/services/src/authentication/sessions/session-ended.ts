/** Published when a single session has ended. */
export const SESSION_ENDED = 'sessions.ended';
export interface SessionEnded {
  sessionId: string;
  identityId: string;
}
