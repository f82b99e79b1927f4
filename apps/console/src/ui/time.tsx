import { useEffect, useState } from 'react';

const MINUTE_MS = 60_000;
const UNITS = [
  ['year', 365 * 24 * 60],
  ['month', 30 * 24 * 60],
  ['day', 24 * 60],
  ['hour', 60],
  ['minute', 1],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const full = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

function ago(at: Date, now: number): string {
  const minutes = Math.round((at.getTime() - now) / MINUTE_MS);
  const [unit, length] = UNITS.find(([, size]) => Math.abs(minutes) >= size) ?? ['minute', 1];
  return minutes === 0 ? 'just now' : relative.format(Math.trunc(minutes / length), unit);
}

/** A moment as how long it is ago, and in full for who points at it. */
export function Time({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  return (
    <time dateTime={at} title={full.format(date)}>
      {ago(date, now)}
    </time>
  );
}
