import { createPasskey, type Deviation, type Person, type SoftPasskey } from '@tandem/testing';

/** Where the browser of the tests is: a server needs it as an allowed origin. */
export const ORIGIN = 'http://localhost:5173';

/** Gives a person a passkey. @returns it, and the id of the factor */
export async function addPasskey(
  person: Person,
  name?: string,
  deviation?: Deviation,
): Promise<{ passkey: SoftPasskey; id: string }> {
  const passkey = createPasskey(ORIGIN);
  const options = await person
    .rest('POST', `/auth/${person.id}/factors/passkeys/options`)
    .expect<Parameters<SoftPasskey['create']>[0]>(200);
  const given = { response: passkey.create(options, deviation), ...(name !== undefined && { name }) };
  const { id } = await person.rest('POST', `/auth/${person.id}/factors/passkeys`, given).expect<{ id: string }>(201);
  return { passkey, id };
}
