import type { ImportProfile } from '../runs/import-profile.js';

const DEFAULT_FORMAT = 'YYYY-MM-DD';
const DIGITS: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  DD: '(?<day>\\d{2})',
  D: '(?<day>\\d{1,2})',
};

/** Date formats that are common in exports. */
const COMMON_FORMATS = ['YYYY-MM-DD', 'D.M.YYYY', 'M/D/YYYY', 'D/M/YYYY', 'D-M-YYYY', 'YYYYMMDD'];

/** Returns the common format of all cells. Returns undefined if no format or several formats fit, or without cells. */
export function findDateFormat(cells: readonly string[]): string | undefined {
  const fits = COMMON_FORMATS.filter((format) => {
    const dates = new StatusDates({ date_format: format }, '');
    return cells.every((cell) => dates.parseDate(cell.trim()) !== undefined);
  });
  return fits.length === 1 ? fits[0] : undefined;
}

/** Evaluates the dates of a profile (`active_from`, `active_until`). The user is active on both days. */
export class StatusDates {
  readonly format: string;
  private readonly pattern: RegExp;

  /** @param today day of the run as `YYYY-MM-DD`. */
  constructor(
    { date_format: format = DEFAULT_FORMAT }: Pick<ImportProfile, 'date_format'>,
    private readonly today: string,
  ) {
    this.format = format.toUpperCase();
    const parts = this.format.replace(/YYYY|MM?|DD?|\./g, (part) => DIGITS[part] ?? `\\${part}`);
    this.pattern = new RegExp(`^${parts}$`);
  }

  /** Returns the status on the day of the run, or the first invalid date. A blank date sets no limit. */
  evaluate(from: string, until: string): string {
    const dates = [from, until].map((cell) => cell.trim());
    const [start, end] = dates.map((cell) => this.parseDate(cell));
    const invalid = dates.find((cell, index) => cell !== '' && [start, end][index] === undefined);
    if (invalid !== undefined) return invalid;
    const isActive = this.today >= (start ?? '') && (end === undefined || this.today <= end);
    return isActive ? 'Active' : 'Blocked';
  }

  /** Returns a date as `YYYY-MM-DD`, or undefined if the cell is not a date in this format. */
  parseDate(cell: string): string | undefined {
    const { year = '', month = '', day = '' } = this.pattern.exec(cell)?.groups ?? {};
    const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
    const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    return year !== '' && date.toJSON().startsWith(iso) ? iso : undefined;
  }
}
