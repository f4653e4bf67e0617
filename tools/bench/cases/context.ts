import type { Cores } from '../support/cores.js';
import type { BenchEngine } from '../support/engine.js';
import type { Comparison } from '../support/results.js';
import type { Effort } from '../support/rounds.js';

/** The context that the cases of one engine share. */
export interface Context {
  engine: BenchEngine;
  cores: Cores;
  effort: Effort;
  /** The seeded database, and how many users it has. */
  url: string;
  users: number;
  say: (line: string) => void;
}

/** The results of a case, and the most MiB of memory that its own service has used. */
export interface Outcome {
  comparisons: Comparison[];
  peak: number;
}
