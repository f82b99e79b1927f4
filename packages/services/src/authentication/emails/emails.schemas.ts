import { z } from 'zod';
import { Email, Id } from '../../shared/schemas.js';
import { Fingerprint, GivenPassword, TokenText } from '../authentication.schemas.js';

/** The fingerprint is ignored. It is accepted for clients that send one. */
export const sendVerificationInput = z.strictObject({ identityId: Id, fingerprint: Fingerprint.optional() });
export const onetimeTokenInput = z.strictObject({ token: TokenText });
export const changeEmailInput = z.strictObject({ identityId: Id, email: Email, password: GivenPassword.optional() });
