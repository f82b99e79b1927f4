import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Storage } from '@tandem/storage';
import type { PasskeyFactor } from '../../identities/factor-records.js';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import { createPasskeyChallenges } from './passkey-challenges.js';
import type { RelyingParty } from './relying-party.js';

/** How long a browser asks for a passkey, in milliseconds: as long as the challenge lives. */
const TIMEOUT_MS = 5 * 60_000;
/** Purpose of the challenges that anybody may ask for: to sign in, or to prove oneself anew. */
export const SIGN_IN = 'sign-in';

export type Passkeys = ReturnType<typeof createPasskeys>;

interface PasskeysOptions {
  storage: Storage;
  /** Undefined where the server has no host name: passkeys are then off. */
  relyingParty: RelyingParty | undefined;
  secrets: readonly string[];
}

/** Loaded when the first passkey is asked for. */
const library = () => import('@simplewebauthn/server');

/** WebAuthn ceremonies (decisions F1, F4). */
export function createPasskeys({ storage, relyingParty, secrets }: PasskeysOptions) {
  const challenges = createPasskeyChallenges(storage, secrets);

  /** @throws errors.passkeysOff */
  function party(): RelyingParty {
    if (!relyingParty) throw errors.passkeysOff();
    return relyingParty;
  }

  /**
   * Runs a verification by the library, whose errors say why a response is refused, to nobody outside.
   * @throws errors.passkeyRefused
   */
  async function refusing<T>(
    purpose: string,
    run: (isExpected: (challenge: string) => Promise<boolean>) => Promise<T>,
  ): Promise<T> {
    let failure: { error: unknown } | undefined;
    const isExpected = (challenge: string) =>
      challenges.take(challenge, purpose).catch((error: unknown) => {
        failure = { error };
        throw error;
      });
    try {
      return await run(isExpected);
    } catch (cause) {
      throw failure ? failure.error : errors.passkeyRefused({ cause });
    }
  }

  return {
    isOn: relyingParty !== undefined,

    /** @throws errors.passkeysOff */
    async creationOptions(
      identity: { id: string; email: string },
      known: readonly PasskeyFactor[],
      purpose: string,
    ): Promise<PublicKeyCredentialCreationOptionsJSON> {
      const { id, name } = party();
      const { generateRegistrationOptions } = await library();
      return generateRegistrationOptions({
        rpName: name,
        rpID: id,
        userID: new TextEncoder().encode(identity.id),
        userName: identity.email,
        userDisplayName: identity.email,
        challenge: challenges.make(purpose),
        timeout: TIMEOUT_MS,
        excludeCredentials: known.map(({ key: id, transports }) => ({ id, transports })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
    },

    /** The credential of a new passkey. @throws errors.passkeyRefused, passkeysOff */
    async register(
      response: RegistrationResponseJSON,
      purpose: string,
    ): Promise<Pick<PasskeyFactor, 'key' | 'publicKey' | 'counter' | 'transports'>> {
      const { id: expectedRPID, origins } = party();
      const { verifyRegistrationResponse } = await library();
      return refusing(purpose, async (expectedChallenge) => {
        const { registrationInfo } = await verifyRegistrationResponse({
          response,
          expectedChallenge,
          expectedOrigin: [...origins],
          expectedRPID,
          requireUserVerification: true,
        });
        if (!registrationInfo) throw new Error('not verified');
        const { id: key, publicKey, counter, transports = [] } = registrationInfo.credential;
        return { key, publicKey: Buffer.from(publicKey).toString('base64url'), counter, transports: [...transports] };
      });
    },

    /**
     * @param passkeys those that may answer; default any that the authenticator finds
     * @throws errors.passkeysOff
     */
    async requestOptions(purpose: string, passkeys?: readonly PasskeyFactor[]): Promise<PublicKeyCredentialRequestOptionsJSON> {
      const { id: rpID } = party();
      const { generateAuthenticationOptions } = await library();
      return generateAuthenticationOptions({
        rpID,
        challenge: challenges.make(purpose),
        timeout: TIMEOUT_MS,
        userVerification: passkeys ? 'preferred' : 'required',
        ...(passkeys && { allowCredentials: passkeys.map(({ key: id, transports }) => ({ id, transports })) }),
      });
    },

    /**
     * Verifies the answer of a passkey, and takes its challenge.
     * @param needsVerification whether the authenticator must have verified its user
     * @returns the signature counter, to be noted
     * @throws errors.passkeyRefused, passkeysOff
     */
    async verify(
      {
        response,
        passkey,
        needsVerification,
      }: { response: AuthenticationResponseJSON; passkey: PasskeyFactor; needsVerification: boolean },
      purpose: string,
    ): Promise<number> {
      const { id: expectedRPID, origins } = party();
      const { verifyAuthenticationResponse } = await library();
      return refusing(purpose, async (expectedChallenge) => {
        const { key, publicKey, counter, transports } = passkey;
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response,
          expectedChallenge,
          expectedOrigin: [...origins],
          expectedRPID,
          credential: { id: key, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter, transports },
          requireUserVerification: needsVerification,
        });
        if (!verified || authenticationInfo.credentialID !== key) throw new Error('not verified');
        return authenticationInfo.newCounter;
      });
    },
  };
}
