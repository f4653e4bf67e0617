import type { Dialect } from './sql.js';

/** What a transaction of an import, or of a Bulk of SCIM, aims at. */
interface Aim {
  /** Milliseconds while others write, and while nobody does. */
  beside: number;
  alone: number;
  /** Batches. */
  least: number;
  most: number;
}

/**
 * SQLite has one writer at a time, and it may hold the database for 50 ms (interface §9). A small transaction writes more pages
 * for each row, so they are small only while others wait for their end. Elsewhere a transaction holds its own rows and,
 * where they name managers, the turn of that rule, for which other changes of managers wait: less than the 100 ms that a
 * request may be held up.
 */
const AIMS: Readonly<Record<Dialect, Aim>> = {
  sqlite: { beside: 12, alone: 40, least: 1, most: 40 },
  mysql: { beside: 80, alone: 80, least: 8, most: 40 },
};

/** Transactions in a row without other writers, after which nobody is expected. */
const CALM = 20;

/** How many batches a transaction writes, so that it takes about as long as it may. It begins with the least. */
export class Pace {
  batches: number;
  private readonly aim: Aim;
  private calm = 0;

  constructor(dialect: Dialect) {
    this.aim = AIMS[dialect];
    this.batches = this.aim.least;
  }

  /** Takes note of how long a transaction of so many batches took. It grows step by step, and shrinks at once. */
  took(batches: number, millis: number, othersWrite: boolean): void {
    const { least, most, beside, alone } = this.aim;
    this.calm = othersWrite ? 0 : this.calm + 1;
    const aim = this.calm >= CALM ? alone : beside;
    const fit = Math.floor((batches * aim) / Math.max(1, millis));
    this.batches = Math.max(least, Math.min(fit, 2 * batches, most));
  }
}
