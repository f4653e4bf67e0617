const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const UNITS: readonly [Intl.RelativeTimeFormatUnit, seconds: number, upTo: number][] = [
  ['minute', 60, 60 * 60],
  ['hour', 3600, 24 * 3600],
  ['day', 86_400, 14 * 86_400],
];

/** Formats a time relative to now ("3 minutes ago"), or as a date if it is more than 14 days away. @param time ISO 8601. */
export function formatRelativeTime(time: string, now = Date.now()): string {
  const seconds = (Date.parse(time) - now) / 1000;
  if (Math.abs(seconds) < 45) return seconds > 10 ? 'in a moment' : 'just now';
  const unit = UNITS.find(([, , upTo]) => Math.abs(seconds) < upTo);
  return unit ? RELATIVE.format(Math.round(seconds / unit[1]), unit[0]) : DAY.format(new Date(time));
}

/** Formats a time in the local time zone, with seconds and the zone. */
export const formatExactTime = (time: string): string => EXACT.format(new Date(time));

/** Formats a time in the local time zone, to the minute. */
export const formatTime = (time: string): string => MOMENT.format(new Date(time));

/** Formats a duration: "3 min 20 s". */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  if (seconds < 1) return '< 1 s';
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
