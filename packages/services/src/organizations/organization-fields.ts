import { z } from 'zod';
import { Line, Name } from '../shared/schemas.js';

/** Maximum number of qualifications. */
const QUALIFICATIONS = 50;

export const Qualifications = z.array(z.strictObject({ name: Name, status: Line, value: Line })).max(QUALIFICATIONS);

const line = Line.nullable().optional();
/** In a change, null clears a line. */
export const AddressPatch = z.strictObject({
  addressLine1: line,
  addressLine2: line,
  addressLine3: line,
  city: line,
  state: line,
  postalCode: line,
  country: line,
});

const given = Line.optional();
export const Address = z.strictObject({
  addressLine1: given,
  addressLine2: given,
  addressLine3: given,
  city: given,
  state: given,
  postalCode: given,
  country: given,
});
