import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';
import type { TandemClient } from './client.js';
import type { RouterInputs, RouterOutputs } from './router-types.js';

type RequestOptions = RouterOutputs['auth']['passkeySignInOptions'];
type Answer = RouterInputs['auth']['passkeySignIn']['response'];
type NewAnswer = RouterInputs['auth']['addPasskey']['response'];
type Factor = RouterOutputs['auth']['addPasskey'];

/** The passkeys of this browser. Each call fails as the browser does (`NotAllowedError` when the person cancels), else as the server. */
export interface Passkeys {
  /** Whether this browser has passkeys. */
  readonly areSupported: boolean;
  /** Signs in with a passkey that the person chooses. */
  signIn(): Promise<{ id: string }>;
  /** Finishes a sign-in that failed with a MfaRequiredError, whose token it takes. */
  verifyMfa(token: string): Promise<{ id: string }>;
  /** Makes a passkey and adds it to the signed-in identity. Needs a fresh proof. */
  add(input: { identityId: string; name?: string }): Promise<Factor>;
  /** Proves the signed-in identity anew, for ten minutes. */
  prove(identityId: string): Promise<void>;
}

const ask = async (optionsJSON: RequestOptions) => (await startAuthentication({ optionsJSON })) as unknown as Answer;

/** Asks this browser's authenticators in the name of a client. */
export function createPasskeys(client: Pick<TandemClient, 'api' | 'signInByPasskey' | 'verifyMfa'>): Passkeys {
  const { auth } = client.api;
  return {
    areSupported: browserSupportsWebAuthn(),
    signIn: async () => client.signInByPasskey({ response: await ask(await auth.passkeySignInOptions.mutate({})) }),
    verifyMfa: async (token) => client.verifyMfa({ token, response: await ask(await auth.mfaPasskeyOptions.mutate({ token })) }),

    async add({ identityId, name }) {
      const options = await auth.passkeyOptions.mutate({ identityId });
      const made = await startRegistration({ optionsJSON: options as Parameters<typeof startRegistration>[0]['optionsJSON'] });
      const response = made as unknown as NewAnswer;
      return auth.addPasskey.mutate({ identityId, response, ...(name !== undefined && { name }) });
    },

    async prove(identityId) {
      await auth.prove.mutate({ identityId, response: await ask(await auth.passkeySignInOptions.mutate({})) });
    },
  };
}
