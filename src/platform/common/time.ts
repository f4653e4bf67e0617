/**
 * Times are stored as `datetime(3)` in UTC, in the one text form that every engine writes and compares alike:
 * `YYYY-MM-DD HH:MM:SS.mmm`. Inside the service a time is that text; outside it is ISO 8601 with `Z`.
 */
export type DbTime = string;

/** @param time a date, or ISO 8601 in UTC with milliseconds. */
export function toDbTime(time: Date | string): DbTime {
  const iso = typeof time === 'string' ? time : time.toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}`;
}

export function now(): DbTime {
  return toDbTime(isoNow());
}

let second = Number.NaN;
let textOfSecond = '';

/** The time in ISO 8601 with milliseconds and `Z`. A request asks for it several times: a second is written out once. */
export function isoNow(): string {
  const millis = Date.now();
  const ofSecond = millis % 1000;
  if (millis - ofSecond !== second) writeOut(millis - ofSecond);
  return `${textOfSecond}${String(ofSecond).padStart(3, '0')}Z`;
}

function writeOut(millis: number): void {
  second = millis;
  textOfSecond = new Date(second).toISOString().slice(0, -4);
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
