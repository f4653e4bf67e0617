import type { Dialect } from '../../database/engine/sql.js';

/** What a transaction of an import aims at. */
interface Aim {
  millis: number;
  /** Batches. */
  least: number;
  most: number;
}

/**
 * SQLite has one writer at a time, and it may hold the database for 50 ms (interface §9). Elsewhere a transaction holds its
 * own rows and, where they name managers, the turn of that rule, for which other changes of managers wait: less than the
 * 100 ms that a request may be held up.
 */
const AIMS: Readonly<Record<Dialect, Aim>> = {
  sqlite: { millis: 30, least: 1, most: 10 },
  mysql: { millis: 80, least: 2, most: 10 },
};

/** How many batches a transaction writes, so that it takes about as long as it may. It begins with the least. */
export class Pace {
  batches: number;
  private readonly aim: Aim;

  constructor(dialect: Dialect) {
    this.aim = AIMS[dialect];
    this.batches = this.aim.least;
  }

  /** Takes note of how long a transaction of so many batches took. It grows step by step, and shrinks at once. */
  took(batches: number, millis: number): void {
    const { least, most, millis: aim } = this.aim;
    const fit = Math.floor((batches * aim) / Math.max(1, millis));
    this.batches = Math.max(least, Math.min(fit, 2 * batches, most));
  }
}
