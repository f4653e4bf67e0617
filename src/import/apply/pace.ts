import type { Dialect } from '../../database/engine/sql.js';

/**
 * What a transaction of an import aims at. SQLite has one writer at a time, and it may hold the database for 50 ms
 * (interface §9); elsewhere it holds its own rows, which nobody else waits for.
 */
const TARGET_MILLIS: Readonly<Record<Dialect, number>> = { sqlite: 30, mysql: 150 };
const MOST_BATCHES = 10;

/** How many batches a transaction writes, so that it takes about as long as it may. It begins with one. */
export class Pace {
  batches = 1;

  constructor(private readonly dialect: Dialect) {}

  /** Takes note of how long a transaction of so many batches took. It grows step by step, and shrinks at once. */
  took(batches: number, millis: number): void {
    const fit = Math.floor((batches * TARGET_MILLIS[this.dialect]) / Math.max(1, millis));
    this.batches = Math.max(1, Math.min(fit, 2 * batches, MOST_BATCHES));
  }
}
