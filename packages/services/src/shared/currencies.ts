/** Number of decimals of the ISO 4217 currencies that are not divided into hundredths. */
const OTHER_EXPONENTS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3])),
  ...Object.fromEntries('CLF UYW'.split(' ').map((code) => [code, 4])),
};

const HUNDREDTHS = [
  'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU',
  'CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS',
  'KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB',
  'PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD',
  'TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG',
].flatMap((line) => line.split(' '));

/** The ISO 4217 codes with a minor unit. Metals, funds without a minor unit and test codes are left out. */
export const CURRENCIES: readonly string[] = [...HUNDREDTHS, ...Object.keys(OTHER_EXPONENTS)].sort();

/** Number of decimals of a currency (the "minor unit" of ISO 4217). @throws RangeError for an unknown code */
export function exponentOf(currency: string): number {
  const exponent = Object.hasOwn(OTHER_EXPONENTS, currency) ? OTHER_EXPONENTS[currency] : undefined;
  if (exponent !== undefined) return exponent;
  if (!HUNDREDTHS.includes(currency)) throw new RangeError('no currency of ISO 4217');
  return 2;
}
