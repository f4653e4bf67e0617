const DAY = 24 * 3600 * 1000;
const OFFICE_DAYS = 245;
const MONTHS = 12;
/** Share of joiners, leavers and transfers that take effect on the first day of a month. */
const FIRST_OF_MONTH = 0.6;

/** A night of the simulated year, which begins on 1 January 2026. */
export class CalendarNight {
  private readonly date: Date;

  constructor(readonly number: number) {
    this.date = new Date(Date.UTC(2026, 0, 1) + number * DAY);
  }

  /** Time in the form of the database. */
  get time(): string {
    return `${this.day} 02:00:00.000`;
  }

  get day(): string {
    return this.date.toISOString().slice(0, 10);
  }

  isOn(month: number, day: number): boolean {
    return this.date.getUTCMonth() + 1 === month && this.date.getUTCDate() === day;
  }

  /** Share of a year's changes that offices enter on this night: hardly any on weekends and around Christmas. */
  get officeShare(): number {
    const [month, day] = [this.date.getUTCMonth() + 1, this.date.getUTCDate()];
    const isChristmas = (month === 12 && day >= 24) || (month === 1 && day === 1);
    const isWeekend = this.date.getUTCDay() % 6 === 0;
    return (isWeekend || isChristmas ? 0.03 : month === 8 ? 0.7 : 1) / OFFICE_DAYS;
  }

  /** Share of a year's changes of contracts that take effect on this night. */
  get contractShare(): number {
    const ofFirst = this.date.getUTCDate() === 1 ? FIRST_OF_MONTH / MONTHS : 0;
    return ofFirst + (1 - FIRST_OF_MONTH) * this.officeShare;
  }
}
