import type { AuthenticatedContext } from '@tandem/core';

/** The identity that acts. An admin needs neither ownership nor a role. */
export interface Actor {
  identityId: string;
  isAdmin: boolean;
}

export function actorOf({ identity, server }: AuthenticatedContext): Actor {
  return { identityId: identity.id, isAdmin: identity.typeId === server.typeIds.admin };
}
