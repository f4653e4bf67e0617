/**
 * Times are stored as `datetime(3)` in UTC, in the one text form that every engine writes and compares alike:
 * `YYYY-MM-DD HH:MM:SS.mmm`. Inside the service a time is that text; outside it is ISO 8601 with `Z`.
 */
export type DbTime = string;

export function toDbTime(date: Date): DbTime {
  const iso = date.toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}`;
}

export function now(): DbTime {
  return toDbTime(new Date());
}

export function isDbTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/.test(text);
}

/** `seconds` may be negative. */
export function secondsFrom(time: DbTime, seconds: number): DbTime {
  return toDbTime(new Date(toMillis(time) + seconds * 1000));
}

export function toMillis(time: DbTime): number {
  return Date.parse(toIso(time));
}

export function toIso(time: DbTime): string {
  return `${time.slice(0, 10)}T${time.slice(11)}Z`;
}
