import { randomUUID } from 'node:crypto';
import { BSON } from './wire-protocol.js';

/** The command by which another process finds out whose engine answers on a socket. */
export const IDENTIFY_COMMAND = 'tandemEngine';

/**
 * Commands that the host answers itself: the engine has no sessions, and most session commands crash it. There are none
 * to end, refresh or kill, so each succeeds.
 *
 * @param {import('mongodb').Document} identity what `tandemEngine` answers
 * @returns {Map<string, () => import('mongodb').Document>}
 */
export function createOwnCommands(identity) {
  const done = () => ({ ok: 1 });
  return new Map([
    [IDENTIFY_COMMAND, () => ({ ...identity, ok: 1 })],
    ['startSession', () => ({ id: { id: new BSON.UUID(randomUUID()) }, timeoutMinutes: 30, ok: 1 })],
    ['endSessions', done],
    ['refreshSessions', done],
    ['killSessions', done],
    ['killAllSessions', done],
    ['killAllSessionsByPattern', done],
  ]);
}
