import { authenticationErrors } from '@tandem/core';
import type { IdentitiesService } from '../identities/identities.service.js';
import type { Credentials } from '../identities/identity-lookups.js';
import type { OnetimeTarget } from '../onetime-tokens/onetime-targets.js';
import type { OnetimeToken, OnetimeTokensService } from '../onetime-tokens/onetime-tokens.service.js';

export type OnetimeProofs = ReturnType<typeof createOnetimeProofs>;

interface OnetimeProofsOptions {
  onetimeTokens: Pick<OnetimeTokensService, 'read'>;
  identities: Pick<IdentitiesService, 'credentialsOf'>;
}

/** Proof of identity by a one-time token. */
export function createOnetimeProofs({ onetimeTokens, identities }: OnetimeProofsOptions) {
  return {
    /**
     * Reads a token, then the credentials it is valid for. The token must match the credentials' epoch, because a change between
     * the two reads has voided it. A provider's token also needs its link to exist still. Consumes nothing.
     * @throws authenticationErrors.unverified; wrongType for a token of another type or target
     */
    async read(token: string, target: OnetimeTarget): Promise<{ onetimeToken: OnetimeToken; credentials: Credentials }> {
      const onetimeToken = await onetimeTokens.read(token, target);
      const credentials = await identities.credentialsOf({ id: onetimeToken.subject });
      if (credentials?.onetimeEpoch !== onetimeToken.epoch) throw authenticationErrors.unverified();
      const { linkId } = onetimeToken;
      if (linkId !== null && !credentials.linkIds.includes(linkId)) throw authenticationErrors.unverified();
      return { onetimeToken, credentials };
    },
  };
}
