import type { Config } from './config.js';

/** A secret with fewer different characters was probably typed by hand. */
const FEW_CHARACTERS = 12;

/** Whether a secret has few different characters, or repeats one piece. */
function isGuessable(secret: string): boolean {
  // a repetitive text occurs in its double before the middle
  const isRepeated = (secret + secret).indexOf(secret, 1) < secret.length;
  return isRepeated || new Set(secret).size < FEW_CHARACTERS;
}

/**
 * Advice on guessable secrets, because anyone who guesses one can forge tokens: one line per variable (decisions H12).
 */
export function guessableSecrets({ authEncSecret, authSignSecret }: Config['authSecrets']): string[] {
  const secrets = Object.entries({ AUTH_ENC_SECRET: authEncSecret, AUTH_SIGN_SECRET: authSignSecret });
  const weak = secrets.filter(([, list]) => [list].flat().some(isGuessable));
  return weak.map(([name]) => `${name} could be guessed: make one with  openssl rand -base64 48`);
}
