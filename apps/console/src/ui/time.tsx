import { useEffect, useState } from 'react';
import { relativeText, timeText } from '../texts/formats.js';
import { t } from '../texts/texts.js';

const MINUTE_MS = 60_000;
const UNITS = [
  ['year', 365 * 24 * 60],
  ['month', 30 * 24 * 60],
  ['day', 24 * 60],
  ['hour', 60],
  ['minute', 1],
] as const;

type Length = 'long' | 'narrow';

function ago(at: Date, now: number, length: Length): string {
  const minutes = Math.round((at.getTime() - now) / MINUTE_MS);
  const [unit, size] = UNITS.find(([, least]) => Math.abs(minutes) >= least) ?? ['minute', 1];
  return minutes === 0 ? t('ui.justNow') : relativeText(Math.trunc(minutes / size), unit, length);
}

/** A time as its distance from now, and in full as a tooltip. */
export function Time({ at, length = 'long' }: { at: string; length?: Length }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  return (
    <time dateTime={at} title={timeText(date)}>
      {ago(date, now, length)}
    </time>
  );
}
