/** An identifier that nothing has. */
export const NO_ID = '01890000-0000-7000-8000-000000000000';

/** The outcome of a call that answers nothing. */
export const OK = { ok: true };

/** The outcome of a call that is refused. */
export const failing = (status: number, message: string) => ({ ok: false, status, message });

/** Who calls is not signed in. */
export const NOT_SIGNED_IN = failing(422, 'Missing authorization header');
/** Who calls is signed in, but may not do this. */
export const REFUSED = failing(403, 'Identity is not authorized to access this resource');
/** A token is forged, expired or revoked. */
export const UNVERIFIED = failing(401, 'token could not be verified');
/** A one-time token is not known, or used up. */
export const UNUSABLE = failing(422, 'Token was not found');
/** A token is of another type than the call takes. */
export const WRONG_TYPE = failing(401, 'Invalid token');
/** A rate limit is reached. */
export const TOO_MANY = failing(429, 'Too many requests');

/** How long tests wait for something that happens by itself, in milliseconds. */
export const PATIENCE = { timeout: 20_000, interval: 20 };
