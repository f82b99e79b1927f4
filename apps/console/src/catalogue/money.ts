/** Formats an amount of money; without a currency, a plain number. */
export function money(amount: number, currency: string | null): string {
  if (currency === null) return new Intl.NumberFormat('en', { maximumFractionDigits: 2 }).format(amount);
  return new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount);
}
