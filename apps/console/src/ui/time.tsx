import { useEffect, useState } from 'react';

const MINUTE_MS = 60_000;
const UNITS = [
  ['year', 365 * 24 * 60],
  ['month', 30 * 24 * 60],
  ['day', 24 * 60],
  ['hour', 60],
  ['minute', 1],
] as const;

const relative = {
  long: new Intl.RelativeTimeFormat('en', { numeric: 'auto' }),
  narrow: new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' }),
};
const full = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

function ago(at: Date, now: number, length: keyof typeof relative): string {
  const minutes = Math.round((at.getTime() - now) / MINUTE_MS);
  const [unit, size] = UNITS.find(([, least]) => Math.abs(minutes) >= least) ?? ['minute', 1];
  return minutes === 0 ? 'just now' : relative[length].format(Math.trunc(minutes / size), unit);
}

/** A time as its distance from now, and in full as a tooltip. */
export function Time({ at, length = 'long' }: { at: string; length?: keyof typeof relative }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  return (
    <time dateTime={at} title={full.format(date)}>
      {ago(date, now, length)}
    </time>
  );
}
