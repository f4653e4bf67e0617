/**
 * A time in UTC as the text `YYYY-MM-DD HH:MM:SS.mmm`, which all engines store in a `datetime(3)` column and compare in the
 * same way. Clients get times in ISO 8601 with `Z`.
 */
export type DbTime = string;

export const HOUR_SECONDS = 60 * 60;
export const DAY_SECONDS = 24 * HOUR_SECONDS;
export const HOUR_MILLIS = HOUR_SECONDS * 1000;

/** @param time a date, or a text in ISO 8601 in UTC with milliseconds. */
export function toDbTime(time: Date | string): DbTime {
  const iso = typeof time === 'string' ? time : time.toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}`;
}

export function now(): DbTime {
  return toDbTime(new Date());
}

export function isDbTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/.test(text);
}

/** Returns the day in a time zone as `YYYY-MM-DD`. */
export function toLocalDay(time: DbTime, timeZone: string): string {
  // Swedish dates have this format.
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(toMillis(time));
}

export function addSeconds(time: DbTime, seconds: number): DbTime {
  return toDbTime(new Date(toMillis(time) + seconds * 1000));
}

/** Largest difference between the clocks of two machines that is not a fault (interface §9). */
export const MAX_SKEW_SECONDS = 5 * 60;

/** Returns the latest time of a past event that is trusted. A later time was stored while a clock was wrong. */
export const computeLatestTrustedTime = (time = now()): DbTime => addSeconds(time, MAX_SKEW_SECONDS);

export const isUntrusted = (pastEvent: DbTime, time = now()): boolean =>
  pastEvent > time && pastEvent > computeLatestTrustedTime(time);

export function toMillis(time: DbTime): number {
  return Date.parse(toIso(time));
}

export function toIso(time: DbTime): string {
  return `${time.slice(0, 10)}T${time.slice(11)}Z`;
}

export const toIsoOrNull = (time: DbTime | null): string | null => time && toIso(time);
