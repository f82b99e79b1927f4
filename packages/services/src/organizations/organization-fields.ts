import { z } from 'zod';
import { Line, Name } from '../shared/schemas.js';

/** Maximum number of qualifications. */
const QUALIFICATIONS = 50;

export const Qualifications = z
  .array(
    z.strictObject({
      name: Name.describe('The name of the qualification.'),
      status: Line.describe('Its state, in your own words.'),
      value: Line.describe('Its value, such as a number.'),
    }),
  )
  .max(QUALIFICATIONS)
  .describe('Qualifications that the organization holds.');

/** The lines of an address that a change request may ask for. */
export const ADDRESS_LINES = {
  addressLine1: Line.describe('The first line of the address.'),
  addressLine2: Line.describe('The second line of the address.'),
  addressLine3: Line.describe('The third line of the address.'),
  postalCode: Line.describe('The postal code.'),
};
const { addressLine1, addressLine2, addressLine3, postalCode } = ADDRESS_LINES;
const city = Line.describe('The city.');
const state = Line.describe('The state, province or prefecture.');
const country = Line.describe('The country.');

/** In a change, null clears a line. */
export const AddressPatch = z.strictObject({
  addressLine1: clearable(addressLine1),
  addressLine2: clearable(addressLine2),
  addressLine3: clearable(addressLine3),
  city: clearable(city),
  state: clearable(state),
  postalCode: clearable(postalCode),
  country: clearable(country),
});

export const Address = z.strictObject({
  addressLine1: addressLine1.optional(),
  addressLine2: addressLine2.optional(),
  addressLine3: addressLine3.optional(),
  city: city.optional(),
  state: state.optional(),
  postalCode: postalCode.optional(),
  country: country.optional(),
});

/** A line that null clears. */
function clearable(line: typeof Line) {
  return line
    .nullable()
    .describe(line.description ?? '')
    .optional();
}
