import type { AuthenticatedContext } from '@tandem/core';
import { callOf } from '@tandem/lists';

/** The identity that acts. An admin needs neither ownership nor a role. */
export interface Actor {
  identityId: string;
  isAdmin: boolean;
}

export function actorOf({ identity, server }: Pick<AuthenticatedContext, 'identity' | 'server'>): Actor {
  return { identityId: identity.id, isAdmin: identity.typeId === server.typeIds.admin };
}

/** Who asks a list query (see `askedBy`); undefined without an identity. */
export function viewerOf(query: object): Actor | undefined {
  const { identity, server } = callOf(query) ?? {};
  return identity && server && actorOf({ identity, server });
}
