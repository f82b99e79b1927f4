import { readerLocale, readerZone } from './texts.js';

/** Formatters take long to make: each is made once. */
const made = new Map<string, unknown>();
function once<Made>(name: string, make: (locale: string, zone: string) => Made): Made {
  const [locale, zone] = [readerLocale(), readerZone()];
  const key = `${name} ${locale} ${zone}`;
  const found = made.get(key) ?? make(locale, zone);
  made.set(key, found);
  return found as Made;
}

const timeFormat = (name: string, options: Intl.DateTimeFormatOptions) =>
  once(name, (locale, timeZone) => new Intl.DateTimeFormat(locale, { timeZone, ...options }));

/** A number as the reader writes it. */
export function numberText(value: number, options: Intl.NumberFormatOptions = {}): string {
  return once(`number ${JSON.stringify(options)}`, (locale) => new Intl.NumberFormat(locale, options)).format(value);
}

/** The signs in numbers as the reader writes them. */
function signs(): { group: string; decimal: string } {
  return once('signs', (locale) => {
    const parts = new Intl.NumberFormat(locale, { useGrouping: 'always' }).formatToParts(12_345.6);
    const of = (wanted: string) => parts.find(({ type }) => type === wanted)?.value ?? '';
    return { group: of('group'), decimal: of('decimal') };
  });
}

/** A number in a field: without groups, since it is to be edited. */
export const typedNumber = (value: number): string => String(value).replace('.', signs().decimal);

/**
 * The number that was typed, in groups or not: `1,500` is 1.5 only where the comma is the decimal sign. NaN for what is no number.
 */
export function numberOf(typed: string): number {
  const { group, decimal } = signs();
  const text = typed.replaceAll(/\s/g, '');
  const [whole = '', ...rest] = text.split(decimal);
  const isGrouped =
    group !== '' && whole.includes(group) && /^-?[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}$/.test(whole.replaceAll(group, ','));
  if (isGrouped && rest.length <= 1) return Number([whole.replaceAll(group, ''), ...rest].join('.'));
  return text === '' ? Number.NaN : Number(text.replace(',', '.'));
}

/** An amount of money; without a currency, a plain number. */
export function money(amount: number, currency: string | null): string {
  return numberText(amount, currency === null ? { maximumFractionDigits: 2 } : { style: 'currency', currency });
}

/** A day and a time of day: `26 Nov 2026, 15:30`. */
export const timeText = (at: Date): string => timeFormat('time', { dateStyle: 'medium', timeStyle: 'short' }).format(at);
/** The same with the day of the week. */
export const fullTimeText = (at: Date): string => timeFormat('full', { dateStyle: 'full', timeStyle: 'short' }).format(at);
/** A time of day. */
export const clockText = (at: Date): string => timeFormat('clock', { hour: '2-digit', minute: '2-digit' }).format(at);
/** A day with its day of the week. */
export const dayText = (at: Date | number): string => timeFormat('day', { dateStyle: 'full' }).format(at);
/** A month of which the server has told: its months are those of UTC. */
export const monthText = (at: Date): string =>
  timeFormat('month', { month: 'short', year: '2-digit', timeZone: 'UTC' }).format(at);

/** How long ago something was, or when it will be: `yesterday`. */
export function relativeText(amount: number, unit: Intl.RelativeTimeFormatUnit, style: Intl.RelativeTimeFormatStyle): string {
  return once(`relative ${style}`, (locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style })).format(
    amount,
    unit,
  );
}

/** Names in a row: `Ada, Grace, Joan`. */
export function listText(names: readonly string[]): string {
  return once('list', (locale) => new Intl.ListFormat(locale, { type: 'unit', style: 'short' })).format(names);
}

/** How far the reader's clocks are ahead of UTC at a time, in milliseconds. */
function offsetAt(at: number): number {
  const parts = timeFormat('parts', {
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const of = (wanted: string) => Number(parts.find(({ type }) => type === wanted)?.value);
  const shown = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
  return shown - Math.floor(at / 1000) * 1000;
}

/** The last time that is asked for: without one, `datetime-local` takes years of six digits. */
export const LATEST = '9999-12-31T23:59';

/** A time as `datetime-local` takes it, in the reader's zone: `2026-11-26T15:30`. */
export function localTime(at: Date): string {
  return new Date(at.getTime() + offsetAt(at.getTime())).toISOString().slice(0, 16);
}

/** The time that a `datetime-local` says, in the reader's zone. */
export function timeOfLocal(local: string): Date {
  const shown = Date.parse(`${local}Z`);
  const near = shown - offsetAt(shown);
  // near a change of the clocks the first guess is on its other side
  return new Date(shown - offsetAt(near));
}
