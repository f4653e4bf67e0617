import type { Cores } from '../support/cores.js';
import type { BenchEngine } from '../support/engine.js';
import type { Comparison } from '../support/results.js';
import type { Effort } from '../support/rounds.js';

/** Context that the cases of one engine share. */
export interface Context {
  engine: BenchEngine;
  cores: Cores;
  effort: Effort;
  /** URL of the seeded database. */
  url: string;
  /** Number of seeded users. */
  users: number;
  log: (line: string) => void;
}

/** Results of a case. */
export interface Outcome {
  comparisons: Comparison[];
  /** Peak memory of the service, in MiB. */
  peak: number;
}
